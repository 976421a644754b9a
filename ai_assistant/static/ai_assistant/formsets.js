// Rows of the formsets of a page outside of the admin: added as the page itself would do
// it, and removed again once nothing is in them.

import { closestOf, isSecret, KEPT_OUT } from "./collectors.js";
import { isChanged } from "./dirty.js";
import { isHarmless } from "./effects.js";
import { bare } from "./elements.js";
import { byId } from "./root.js";

const BLANK = "__prefix__"; // the number of an empty row, as Django has it
// That of ours, and of django-formset-js.
const CONTROLS = "[data-aia-add-row], [data-formset-add]";
const HIDING = ["empty-form", "hidden", "d-none"]; // classes
const WAIT_MS = 2000; // for a row that the page fetches

/** @typedef {{ form: any, formset: string, number: number, parts: any[] }} Row */

/** @type {Row[]} */
const added = [];

/**
 * Returns the fields in a part of the page whose names begin so.
 *
 * @param {any} where
 * @returns {any[]}
 */
const fieldsIn = (where, start = "") =>
  [...bare(where).querySelectorAll("input, select, textarea")].filter(
    ({ name }) => name?.startsWith(start) && name
  );

/**
 * @param {any} form
 * @param {string} start
 * @returns {any[]}
 */
const fieldsOf = (form, start) =>
  [...bare(form).elements].filter(({ name }) => name?.startsWith(start));

/**
 * @param {any} form
 * @param {string} formset
 */
const countOf = (form, formset) =>
  Number(fieldsOf(form, `${formset}-TOTAL_FORMS`)[0]?.value);

/**
 * Tells whether all fields in an element are of one row.
 *
 * @param {any} element
 * @param {string} row how their names begin
 */
const isOfRow = (element, row) =>
  fieldsIn(element).every(({ name }) => name.startsWith(row));

/** @param {Element} element */
const isHidden = (element) => getComputedStyle(element).display === "none";

// --- a copy of the empty row ---

const templates = () => [...document.querySelectorAll("template")];

/**
 * Returns the names of what the next row of a formset has, if the page has it empty.
 *
 * @param {[string, number]} formset
 */
export const nextRow = ([formset, count]) => {
  const fields = [document, ...templates().map(({ content }) => content)]
    .flatMap((where) => fieldsIn(where, `${formset}-${BLANK}-`))
    .filter((one) => one.type !== "hidden" && !isSecret(one));
  return fields.map(({ name }) => name.replace(BLANK, `${count}`));
};

/**
 * Returns the template of a row, or the element that is not shown and holds nothing else.
 *
 * @param {string} row how the names of its fields begin
 */
const findBlank = (row) => {
  const template = templates().find(({ content }) => fieldsIn(content, row).length);
  if (template) return template;
  const fields = fieldsIn(document, row);
  let box = fields[0];
  while (box && !(isHidden(box) && fields.every((one) => box.contains(one))))
    box = box.parentElement;
  return box && isOfRow(box, row) ? box : null;
};

/**
 * @param {any} blank
 * @param {string} formset
 * @param {number} number
 * @returns {any[]}
 */
const copyOf = (blank, formset, number) => {
  const copy = document.importNode(blank.content ?? blank, true);
  const parts = blank.content ? [...copy.children] : [copy];
  for (const one of parts.flatMap((part) => [part, ...part.querySelectorAll("*")]))
    for (const attribute of one.attributes)
      if (attribute.value.includes(BLANK))
        // Further ones in a name are of a formset in this row.
        attribute.value = attribute.value.replace(
          /(?<!__prefix__\S*)__prefix__/g,
          `${number}`
        );
  if (blank.content) return parts;
  if (copy.id === blank.id) copy.id = `${formset}-${number}`;
  copy.hidden = false;
  copy.style.removeProperty("display");
  copy.classList.remove(...HIDING);
  return parts;
};

/**
 * Returns the last element of the last row, as deep as the rows of the empty one.
 *
 * @param {any} form
 * @param {any} blank
 * @param {string} row how the names of the last row begin
 * @param {string} empty how those of the empty one do
 */
const endOfRow = (form, blank, row, empty) => {
  let end = fieldsOf(form, row).at(-1);
  if (!end) return null;
  const top = blank.content ?? blank.parentNode;
  const fields = fieldsIn(blank.content ?? blank, empty);
  const name = empty + end.name.slice(row.length);
  let twin = fields.find((one) => one.name === name) ?? fields.at(-1);
  while (
    twin.parentNode !== top &&
    end.parentNode !== form &&
    isOfRow(end.parentNode, row)
  ) {
    twin = twin.parentNode;
    end = end.parentNode;
  }
  return end;
};

/**
 * Returns the elements of a new row. Throws if the page has no empty one for it.
 *
 * @param {any} form
 * @param {string} formset
 * @param {number} number
 */
const addCopy = (form, formset, number) => {
  const empty = `${formset}-${BLANK}-`;
  const blank = findBlank(empty);
  const parts = blank ? copyOf(blank, formset, number) : [];
  const end = blank && endOfRow(form, blank, `${formset}-${number - 1}-`, empty);
  if (end) end.after(...parts);
  else if (blank && bare(form).contains(blank)) blank.before(...parts);
  if (!parts.some((one) => one.isConnected && !isHidden(one))) {
    for (const part of parts) part.remove();
    throw new Error(
      "and the page offers no empty row to copy. Press its own button for a new row " +
        "with page_action, and fill it in then; or ask the user to add it"
    );
  }
  fieldsOf(form, `${formset}-TOTAL_FORMS`)[0].value = number + 1;
  const detail = { formsetName: formset };
  parts[0].dispatchEvent(new CustomEvent("formset:added", { bubbles: true, detail }));
  return parts;
};

// --- the page's own button ---

/** @param {string} formset */
const findControl = (formset) =>
  /** @type {any[]} */ ([...document.querySelectorAll(CONTROLS)]).find(
    (one) =>
      (one.dataset.aiaAddRow ??
        one.closest("[data-formset-prefix]")?.dataset.formsetPrefix) === formset &&
      isHarmless(one) &&
      !closestOf(one, KEPT_OUT)
  );

/**
 * Returns the elements of a new row, if it has some of its own.
 *
 * @param {any} control
 * @param {any} form
 * @param {string} formset
 * @param {number} number
 */
const press = async (control, form, formset, number) => {
  const all = () => [...bare(form).querySelectorAll("*")];
  const before = new Set([form, ...all()]);
  control.click();
  const end = Date.now() + WAIT_MS;
  while (countOf(form, formset) === number && Date.now() < end)
    await new Promise((done) => setTimeout(done, 50));
  if (countOf(form, formset) !== number + 1)
    throw new Error("and the page's own button has not added one");
  return all().filter(
    (one) =>
      !before.has(one) &&
      before.has(one.parentNode) &&
      isOfRow(one, `${formset}-${number}-`)
  );
};

// --- both ---

/**
 * Adds a row to a formset, unless it has one of this number. Throws why it is not added.
 *
 * @param {any} form
 * @param {string} formset
 * @param {number} number
 */
const addRow = async (form, formset, number) => {
  const count = countOf(form, formset);
  if (number < count) return;
  const has = `is in no row of ${formset}: it has ${count}, `;
  if (number > count) throw new Error(`${has}and ${formset}-${count} comes first`);
  const most = fieldsOf(form, `${formset}-MAX_NUM_FORMS`)[0]?.value;
  if (most && number >= Number(most)) throw new Error(`${has}and may have no more`);
  const control = findControl(formset);
  try {
    const parts = control
      ? await press(control, form, formset, number)
      : addCopy(form, formset, number);
    added.push({ form, formset, number, parts });
  } catch (error) {
    throw new Error(has + /** @type {Error} */ (error).message);
  }
};

/**
 * Adds the rows that fields are to be in. Returns of each that has none, why.
 *
 * @param {any} form
 * @param {{ name: string, formset: string, number: number }[]} fields
 */
export const addRows = async (form, fields) => {
  /** @type {Map<string, string>} */
  const refused = new Map();
  /** @type {Map<string, string>} */
  const reasons = new Map(); // of rows: each is tried once
  fields.sort((one, other) => one.number - other.number);
  for (const { name, formset, number } of fields) {
    const row = `${formset}-${number}`;
    if (!reasons.has(row))
      await addRow(form, formset, number).then(
        () => reasons.set(row, ""),
        ({ message }) => reasons.set(row, message)
      );
    if (reasons.get(row)) refused.set(name, reasons.get(row));
  }
  return refused;
};

/** Removes rows that were added, from the last one on, as long as nothing is in them. */
export const dropRows = () => {
  for (const row of added.toReversed()) {
    const { form, formset, number, parts } = row;
    const fields = fieldsOf(form, `${formset}-${number}-`);
    const isUsed = fields.some((one) => "aiaFilled" in one.dataset || isChanged(one));
    if (isUsed || !parts.length || countOf(form, formset) !== number + 1) continue;
    added.splice(added.indexOf(row), 1);
    for (const part of parts) part.remove();
    fieldsOf(form, `${formset}-TOTAL_FORMS`)[0].value = number;
    const detail = { formsetName: formset };
    document.dispatchEvent(new CustomEvent("formset:removed", { detail }));
    // What was pressed to take it back is gone with it.
    if (document.activeElement === document.body) byId("aia-input")?.focus();
  }
};

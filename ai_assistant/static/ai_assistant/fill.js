// Fills in the form of the page. Each field is marked, and can be taken back: nothing is
// saved until the person saves.

import { sendsItself, staysHere } from "./effects.js";
import { byId, cloneTemplate, root, translate } from "./root.js";

// Of Django and Unfold, Grappelli, nested-admin.
const ADDS = ".add-row a, a.add-row, .grp-add-handler, .djn-add-handler";
// What holds the rows of an inline: Unfold has the second one alone within rows.
const ROWS = "[id$='-group'], [id$='-data']";
const TICKS = ["checkbox", "radio"];
// Of the form that Django saves: others of the page may have the same names.
const SAVES = "[name=_save], [name=_continue], [name=_addanother], [name=_saveasnew]";

/** @typedef {{ name: string, label: string, values: string[], texts: Record<string, string>, inputs?: any[], onBack?: () => void }} Field */

/**
 * Returns the inputs of a name, in this form or in any of the page itself.
 *
 * @param {string} name
 * @param {any} [of]
 * @returns {any[]}
 */
export const inputsOf = (name, of) =>
  [...document.getElementsByName(name)].filter((input) => {
    const { form } = /** @type {any} */ (input);
    return form && (of ?? form) === form && !root.contains(input);
  });

/** @param {any} input the left box of two between which Django moves choices, if it has one */
const leftBox = (input) =>
  input.options && inputsOf(`${input.name}_old`, input.form)[0];

/**
 * @param {any[]} inputs
 * @returns {string[]}
 */
export const chosen = (inputs) =>
  inputs.flatMap((input) => {
    if (TICKS.includes(input.type)) return input.checked ? input.value : [];
    if (!input.options) return input.value;
    const options = [...(leftBox(input) ? input.options : input.selectedOptions)];
    return options.map((option) => option.value);
  });

/**
 * @param {any} select
 * @param {string[]} values
 * @param {Record<string, string>} texts
 */
const choose = (select, values, texts) => {
  const left = leftBox(select);
  if (left) {
    const boxes = /** @type {any} */ (window).SelectBox;
    for (const [from, to, wanted] of [
      [select, left, false],
      [left, select, true]
    ]) {
      for (const option of from.options)
        option.selected = values.includes(option.value) === wanted;
      boxes.move(from.id, to.id);
    }
    return;
  }
  const known = [...select.options].map((option) => option.value);
  for (const value of values)
    if (!known.includes(value)) select.add(new Option(texts[value] ?? value, value));
  for (const option of select.options) option.selected = values.includes(option.value);
};

/**
 * Writes into a text field, and into the editor that shows it: TinyMCE, CKEditor 5.
 *
 * @param {any} input
 * @param {string} value
 */
const write = (input, value) => {
  input.value = value;
  /** @type {any} */ (window).tinymce?.get(input.id)?.setContent(value);
  const next = input.nextElementSibling; // not that of another field
  if (next?.matches(".ck-editor"))
    next.querySelector(".ck-editor__editable")?.ckeditorInstance?.setData(value);
};

/**
 * @param {any[]} inputs
 * @param {string[]} values
 * @param {Record<string, string>} [texts]
 */
export const put = (inputs, values, texts = {}) => {
  inputs.forEach((input, at) => {
    if (TICKS.includes(input.type)) input.checked = values.includes(input.value);
    else if (input.options) choose(input, values, texts);
    else write(input, values[at] ?? "");
    for (const kind of ["input", "change"])
      input.dispatchEvent(new Event(kind, { bubbles: true }));
  });
};

/**
 * Says in words what was chosen.
 *
 * @param {any[]} inputs
 */
const inWords = (inputs) =>
  inputs
    .flatMap((input) => {
      if (TICKS.includes(input.type)) return input.checked ? "✓" : [];
      if (!input.options) return input.value;
      const options = leftBox(input) ? input.options : input.selectedOptions;
      return [...options].map((option) => option.text);
    })
    .join(", ");

/** @type {Map<any, (isBack: boolean) => void>} */
const filled = new Map(); // by the first input: ends its mark

const tell = () => {
  const old = document.querySelector(".aia-filling");
  if (!filled.size) return old?.remove();
  const note = old ?? cloneTemplate("aia-t-filling");
  note.querySelector("span").textContent = translate("filled", filled.size);
  const [keep, back] = note.querySelectorAll("button");
  keep.onclick = () => settle(false);
  back.onclick = () => settle(true);
  if (!old) byId("aia-notice").replaceChildren(note);
};

/** @param {boolean} isBack */
const settle = (isBack) => {
  for (const end of [...filled.values()]) end(isBack);
  byId("aia-input")?.focus();
};

/**
 * @param {any[]} inputs
 * @param {string[]} values
 * @param {Record<string, string>} [texts]
 * @param {() => void} [onBack] called once it is taken back
 */
const fill = (inputs, values, texts, onBack) => {
  filled.get(inputs[0])?.(false);
  const before = chosen(inputs);
  const was = inWords(inputs);
  put(inputs, values, texts);
  const note = cloneTemplate("aia-t-filled");
  note.querySelector("del").textContent = was;
  const last = inputs.at(-1);
  const box =
    last.closest(".selector, .related-widget-wrapper, .datetime, label") ?? last;
  box.after(note);
  /** @param {boolean} isBack */
  const end = (isBack) => {
    filled.delete(inputs[0]);
    note.remove();
    for (const input of inputs) delete input.dataset.aiaFilled;
    if (isBack) {
      put(inputs, before);
      onBack?.();
    }
    tell();
  };
  note.querySelector("button").onclick = (event) => {
    event.stopPropagation(); // the cell of a box may hear it, too
    end(true);
    last.focus();
  };
  for (const input of inputs) input.dataset.aiaFilled = "";
  filled.set(inputs[0], end);
};

/**
 * Fills in some inputs of the page, as one field that can be taken back.
 *
 * @param {any[]} inputs
 * @param {string[]} values
 */
export const fillInput = (inputs, values) => {
  fill(inputs, values);
  tell();
};

/** @param {Record<string, number[]>} rows */
const addRows = (rows) => {
  for (const [prefix, [there, wanted]] of Object.entries(rows)) {
    const [total] = inputsOf(`${prefix}-TOTAL_FORMS`);
    if (Number(total?.value) !== there) throw new Error(`rows of ${prefix} were added`);
    const own = [`${prefix}-group`, `${prefix}-data`];
    // The last one: in the rows before it others may have written the like.
    const link = [...document.querySelectorAll(ADDS)].findLast(
      // Not of an inline in it.
      (one) => own.includes(String(one.closest(ROWS)?.id)) && staysHere(one)
    );
    for (let row = there; row < wanted; row += 1)
      /** @type {HTMLElement | undefined} */ (link)?.click();
  }
};

/**
 * Fills in fields, and tells which.
 *
 * @param {Field[]} fields
 */
export const fillFields = (fields) => {
  /** @type {Record<string, string[]>} */
  const told = { filled: [], typed_by_person: [], not_on_page: [], sends_itself: [] };
  const form = /** @type {any} */ (document.querySelector(SAVES))?.form;
  for (const field of fields) {
    const inputs = field.inputs ?? inputsOf(field.name, form);
    const name = field.label || field.name;
    if (!inputs.length) told.not_on_page.push(name);
    else if (inputs.includes(document.activeElement)) told.typed_by_person.push(name);
    else if (inputs.some(sendsItself)) told.sends_itself.push(name);
    else {
      fill(inputs, field.values, field.texts, field.onBack);
      told.filled.push(name);
    }
  }
  tell();
  const first = document.querySelector("[data-aia-filled]");
  first?.scrollIntoView({ block: "center" });
  return { ...told, saved: false };
};

/**
 * @param {{ page: string, fields: Field[], rows: Record<string, number[]> }} wanted
 */
export const fillForm = ({ page, fields, rows }) => {
  if (new URL(page, location.href).pathname !== location.pathname)
    throw new Error("the page is another one now");
  addRows(rows);
  return fillFields(fields);
};

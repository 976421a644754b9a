// The page follows what the assistant changes: rows of a list, fields of a form, texts.

import { isChanged, isDirty } from "./dirty.js";
import { getPage } from "./fetching.js";
import { byId, emit, pagePath, root, translate } from "./root.js";

const SHOWN_MS = 4000;
const OPENED = "_aia_opened"; // the field that says what the form was opened with
const OWN = ["csrfmiddlewaretoken", OPENED];
const MOST_CHARS = 60; // of a value in a button

/** @typedef {any} Field an input, a select or a textarea */

/** @typedef {(html: string) => DocumentFragment} Parse */

/**
 * Fetches the open page; another page, such as an error, has no panel.
 *
 * @param {Parse} parse
 */
const fetchPage = async (parse) => {
  const response = await getPage(pagePath());
  if (!response.ok || response.redirected) return null;
  const page = parse(await response.text());
  return page.querySelector("#aia") ? page : null;
};

/** @param {Element} element */
const flash = (element) => {
  element.classList.add("aia-changed");
  setTimeout(() => element.classList.remove("aia-changed"), SHOWN_MS);
};

/**
 * Draws the texts anew that stand in both, if there are as many.
 *
 * @param {DocumentFragment} page
 * @param {string} selector
 */
const followTexts = (page, selector) => {
  const fresh = [...page.querySelectorAll(selector)];
  const old = [...document.querySelectorAll(selector)];
  if (fresh.length !== old.length) return;
  for (const [n, element] of old.entries())
    if (element.textContent !== fresh[n].textContent) {
      element.replaceChildren(...fresh[n].childNodes);
      flash(element);
    }
};

// --- a list ---

/**
 * @param {ParentNode} page
 * @returns {HTMLTableSectionElement | null}
 */
const rowsOf = (page) => page.querySelector("#result_list tbody");

/** @param {Element} row */
const keyOf = (row) => {
  /** @type {HTMLInputElement} */
  const box = row.querySelector("input.action-select");
  return box?.value ?? row.querySelector("a")?.getAttribute("href") ?? "";
};

/** @param {HTMLTableSectionElement} body */
const byKey = (body) => new Map([...body.rows].map((row) => [keyOf(row), row]));

/**
 * @param {HTMLTableRowElement} row
 * @param {HTMLTableRowElement} fresh
 */
const mergeRow = (row, fresh) => {
  const cells = [...fresh.cells];
  let isNew = false;
  for (const [n, cell] of [...row.cells].entries()) {
    if (!cells[n] || cell.querySelector(".action-select")) continue; // is ticked, maybe
    if (cell.isEqualNode(cells[n])) continue;
    isNew ||= cell.textContent !== cells[n].textContent;
    cell.replaceWith(cells[n]);
  }
  if (isNew) flash(row);
};

/** @param {DocumentFragment} page */
const followRows = (page) => {
  const body = rowsOf(page);
  const old = rowsOf(document);
  const rows = byKey(old);
  const fresh = byKey(body);
  if (rows.size < old.rows.length || fresh.size < body.rows.length) return false;
  let place = 0;
  for (const [key, row] of fresh) {
    const known = rows.get(key);
    if (known) mergeRow(known, row);
    else flash(row);
    const next = old.rows[place++];
    if (next !== (known ?? row)) old.insertBefore(known ?? row, next ?? null);
  }
  for (const [key, row] of rows) if (!fresh.has(key)) row.remove();
  return true;
};

/** @param {DocumentFragment} page */
const followList = (page) => {
  if (isDirty() || !rowsOf(document) || !rowsOf(page) || !followRows(page))
    return false;
  for (const hidden of page.querySelectorAll("#changelist-form input[type=hidden]")) {
    const { name, value } = /** @type {HTMLInputElement} */ (hidden);
    if (name !== OWN[0]) setHidden(`#changelist-form [name="${name}"]`, value);
  }
  followTexts(page, "#changelist-filter a, .paginator, #toolbar .quiet");
  followTexts(page, "#changelist-filter ul"); // values that came or went
  return true;
};

/**
 * @param {string} selector
 * @param {string} value
 */
const setHidden = (selector, value) => {
  /** @type {HTMLInputElement} */
  const field = document.querySelector(selector);
  if (field?.type === "hidden") field.value = value;
};

// --- a form ---

/**
 * @param {ParentNode} page
 * @returns {Field[]}
 */
const fieldsOf = (page) => {
  /** @type {HTMLInputElement} */
  const opened = page.querySelector(`[name=${OPENED}]`);
  const fields = /** @type {Field[]} */ ([...(opened?.form.elements ?? [])]);
  return fields.filter(({ name, type }) => name && type !== "submit");
};

/** What the server put into a field.
 *
 * @param {Field} field
 */
const given = ({ defaultChecked, defaultValue, options, type }) => {
  if (type === "checkbox" || type === "radio") return `${defaultChecked}`;
  if (!options) return defaultValue ?? "";
  const chosen = [...options].filter((one) => one.defaultSelected);
  return chosen.map((one) => one.value).join("\n");
};

/**
 * What a person reads in a field.
 *
 * @param {Field} field
 */
const read = ({ options, value }) => {
  const chosen = options && [...options].filter((one) => one.selected);
  return chosen ? chosen.map((one) => one.text).join(", ") : value;
};

/**
 * @param {Field} field
 * @param {Field} fresh
 */
const take = (field, fresh) => {
  if (field.options) field.replaceChildren(...fresh.cloneNode(true).childNodes);
  else if (field.type === "checkbox" || field.type === "radio")
    field.checked = field.defaultChecked = fresh.defaultChecked;
  else field.value = field.defaultValue = fresh.defaultValue;
  if (field.options) field.dispatchEvent(new Event("change", { bubbles: true }));
};

/**
 * Puts a button below a field.
 *
 * @param {Field} field
 * @param {string} name of its text
 * @param {string} value
 * @param {() => void} onClick
 */
const offer = (field, name, value, onClick) => {
  const row = field.parentElement;
  row.querySelector(":scope > .aia-other")?.remove();
  const short = value.length > MOST_CHARS ? `${value.slice(0, MOST_CHARS)}…` : value;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "aia-other" });
  button.textContent = translate(name, short || translate("none"));
  button.onclick = () => {
    onClick();
    button.remove();
    field.focus();
  };
  row.append(button);
};

/**
 * @param {Field} field
 * @param {Field} fresh
 */
const update = (field, fresh) => {
  const old = field.cloneNode(true);
  const value = read(field);
  take(field, fresh);
  if (field.type === "hidden") return;
  flash(field);
  if (field.type === "checkbox" || field.type === "radio") return;
  offer(field, "putBack", value, () => {
    if (!field.options) field.value = old.value;
    else
      for (const [n, one] of [...old.options].entries()) {
        if (field.options[n]) field.options[n].selected = one.defaultSelected;
      }
  });
};

/** @param {ParentNode} page */
const files = (page) =>
  [...page.querySelectorAll(".file-upload")].map((one) => one.textContent).join();

/** @param {DocumentFragment} page */
const followFields = (page) => {
  const fields = fieldsOf(document);
  const fresh = fieldsOf(page);
  const isSame = fields.every(({ name, type }, n) => {
    return name === fresh[n]?.name && type === fresh[n].type;
  });
  if (fields.length !== fresh.length || !isSame || files(document) !== files(page))
    return false; // rows have come or gone, or something that has no value here
  let isUndecided = false;
  for (const [n, field] of fields.entries()) {
    if (OWN.includes(field.name) || given(field) === given(fresh[n])) continue;
    if (!isChanged(field)) update(field, fresh[n]);
    else {
      isUndecided = true;
      flash(field);
      offer(field, "take", read(fresh[n]), () => take(field, fresh[n]));
    }
  }
  // With the old one the server asks once more before it saves.
  const opened = fresh.find(({ name }) => name === OPENED);
  if (!isUndecided && opened) setHidden(`[name=${OPENED}]`, opened.value);
  return true;
};

/** @param {DocumentFragment} page */
const followForm = (page) => {
  if (!followFields(page)) return false;
  followTexts(
    page,
    "#content .readonly, #content > :is(h1, h2), .titles > *, .breadcrumbs"
  );
  followTexts(page, "#change-history"); // also the first entry, which has no table yet
  return true;
};

// --- one change ---

let isAsking = false;
let isAskedAgain = false;

/**
 * @param {string} id of the bar that asks to load the page anew, if it cannot follow
 * @param {Parse} parse
 */
export const follow = async (id, parse) => {
  if (isAsking) {
    isAskedAgain = true;
    return;
  }
  isAsking = true;
  const path = pagePath();
  const page = await fetchPage(parse).catch(() => /** @type {null} */ (null));
  isAsking = false;
  if (path !== pagePath()) return;
  const isDone = page && (rowsOf(document) ? followList(page) : followForm(page));
  byId(id)?.toggleAttribute("hidden", Boolean(isDone));
  if (isDone) {
    /** @type {HTMLElement} */
    const panel = page.querySelector("#aia");
    root.dataset.opened = panel.dataset.opened ?? root.dataset.opened;
    emit("followed");
  }
  if (!isAskedAgain) return;
  isAskedAgain = false;
  await follow(id, parse);
};

// What only the browser knows of a page. Never a password, a file, a hidden field.

import { isChanged } from "./dirty.js";
import { bare } from "./elements.js";
import { byId, root, translate } from "./root.js";

// Both are those of safety/policy/sensitive.py, word for word.
const SECRET_WORDS =
  /(^|_)(password|passwd|passphrase|passcode|pwd|(client_?)?secret|(auth|access)?_?token|credential|(api|private|access|signing|session)_?key|session_?data|(hashed|auth|encryption|recovery|backup|totp|otp|mfa)_?(key|code|seed|secret)|salt|hash|otp|pin)(e?s)?\d*($|_)/i;
const WORD_BREAKS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
// What else a person types: passwords in other words and languages, means to pay.
const TYPED =
  /p(assw|wd)|secret|token|api_?key|credential|(^|_)(one_time_code|cv[cv]|csc|iban|cc)($|_)/i;
const NO_VALUE = ["password", "hidden", "file", "submit", "button", "image", "reset"];
const NOT_FIELDS = [
  ...["#changelist-search *", ".actions *", ".action-select", "#action-toggle"],
  ...[".empty-form *", ".selector *"]
].join(", ");
const MAX_ROWS = 100;
const FIELD_CHARS = 1000;
const SELECTION_CHARS = 2000;

// What a page marks so is never read, or only said to be there.
export const IGNORED = "[data-aia-ignore]";
export const PRIVATE = "[data-aia-private]";
export const KEPT_OUT = `${IGNORED}, ${PRIVATE}`;

/** @param {string} text */
const collapse = (text) => text.trim().replace(/\s+/g, " ");

/**
 * Returns the element around a node, or itself, that has one of the marks.
 *
 * @param {Node} node
 * @param {string} marks
 */
export const closestOf = (node, marks) =>
  bare(node instanceof Element ? node : node.parentElement)?.closest(marks);

/** @param {Node} node */
const isReadable = (node) => !root.contains(node) && !closestOf(node, IGNORED);

/** @param {Element} element */
export const textOf = (element) => {
  if (closestOf(element, KEPT_OUT)) return "";
  const copy = /** @type {Element} */ (element.cloneNode(true));
  for (const part of copy.querySelectorAll(KEPT_OUT)) part.remove();
  return collapse(copy.textContent);
};
// Of objects that are kept from the assistant nothing is told but which they are.
export const isWithheld = () => "withheld" in (byId("aia-context")?.dataset ?? {});

/**
 * @param {"rows" | "fields" | "inlines" | "selection"} name
 * @param {number | string} count
 * @param {unknown} value
 */
const makeItem = (name, count, value) => ({
  id: `page-${name}`,
  label: translate(name, count),
  description: translate(`${name}Are`),
  value
});

// --- the ticked rows of a list ---

/** @param {Element} box */
const rowText = (box) => {
  const row = box.closest("tr");
  const cell =
    row?.querySelector("th") ?? row?.querySelector("td:not(.action-checkbox)");
  return (cell ? textOf(cell) : "").slice(0, 200);
};

const tickedRows = () => {
  /** @type {NodeListOf<HTMLInputElement>} */
  const ticked = document.querySelectorAll("input.action-select:checked");
  const boxes = [...ticked].filter(isReadable);
  if (!boxes.length) return null;
  const rows = boxes.slice(0, MAX_ROWS);
  /** @type {HTMLInputElement | null} */
  const across = document.querySelector("input.select-across");
  return makeItem("rows", boxes.length, {
    count: boxes.length,
    ...(across?.value === "1" && { all_pages: true }),
    rows: rows.map((box) => ({
      id: box.value,
      ...(!isWithheld() && { text: rowText(box) })
    }))
  });
};

// --- what is changed in the form, and not saved ---

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** @param {Field} field */
export const fieldValue = (field) => {
  if (field instanceof HTMLSelectElement)
    return [...field.selectedOptions].map(({ value, text }) => ({ value, text }));
  if (field.type === "checkbox") return /** @type {any} */ (field).checked;
  return field.value.slice(0, FIELD_CHARS);
};

/**
 * Tells whether the names of a field are those of a password, a key or a card.
 *
 * @param {{ name: string, id: string, autocomplete: string }} field
 */
export const isSecret = ({ name, id, autocomplete }) => {
  const words = `${name} ${id} ${autocomplete}`.replace(WORD_BREAKS, "_");
  const names = words.replace(/\W+/g, "_");
  return SECRET_WORDS.test(names) || TYPED.test(names);
};

/** @param {Field} field */
export const isReported = (field) =>
  field.name &&
  isReadable(field) &&
  !NO_VALUE.includes(field.type) &&
  !isSecret(field) &&
  !field.matches(NOT_FIELDS);

/** @param {any} field */
const isUnchosen = (field) => field.type === "radio" && !field.checked;

const unsavedFields = () => {
  /** @type {Record<string, unknown>} */
  const values = {};
  /** @type {NodeListOf<Field>} */
  const fields = document.querySelectorAll(
    "form[method=post] :is(input, select, textarea)"
  );
  for (const field of fields) {
    if (!isReported(field) || !isChanged(field) || isUnchosen(field)) continue;
    const isPrivate = closestOf(field, PRIVATE);
    values[field.name] = isPrivate ? translate("private") : fieldValue(field);
  }
  const count = Object.keys(values).length;
  return count ? makeItem("fields", count, values) : null;
};

// --- parts of the form that were opened or got rows ---

const NEW_ROWS = ":is(tr, .inline-related)[id]:not(.has_original, .empty-form)";
const groups = () => [...document.querySelectorAll(".inline-group")].filter(isReadable);

/** @param {Element} group */
const newRows = (group) =>
  [...group.querySelectorAll(NEW_ROWS)].filter(({ id }) => /-\d+$/.test(id)).length;

// An empty form has some rows.
const blankRows = new Map(groups().map((group) => [group, newRows(group)]));

/** @param {Element} group */
const partOf = (group) => ({
  name: collapse(group.querySelector("h2")?.textContent ?? group.id),
  rows: group.querySelectorAll(".has_original").length,
  added: newRows(group) - (blankRows.get(group) ?? 0),
  open: group.querySelector("details[open]") !== null
});

const openInlines = () => {
  const parts = groups()
    .map(partOf)
    .filter(({ added, open }) => added > 0 || open);
  return parts.length ? makeItem("inlines", parts.length, parts) : null;
};

// --- selected text: remembered, since writing a message ends the selection ---

let selected = "";

const select = () => {
  const { anchorNode, focusNode } = getSelection();
  if (!anchorNode || !isReadable(anchorNode) || !isReadable(focusNode)) return;
  if (document.activeElement?.matches("input, textarea")) return;
  const selection = getSelection();
  /** @param {Element} part */
  const isSelected = (part) => selection.containsNode(part, true);
  const around = /** @type {Element} */ (
    selection.getRangeAt(0).commonAncestorContainer
  );
  /** @type {ArrayLike<Element>} */
  const parts = around.querySelectorAll?.(KEPT_OUT) ?? [];
  const isRead = !closestOf(around, KEPT_OUT) && !Array.from(parts).some(isSelected);
  selected = isRead ? selection.toString().trim().slice(0, SELECTION_CHARS) : "";
};
select(); // it may be what this was loaded for
document.addEventListener("selectionchange", select);

const selection = () => (selected ? makeItem("selection", "", selected) : null);

// --- what the page itself declares ---

/** @param {string} text */
const parse = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** @param {HTMLElement} element */
const declared = (element) => {
  const { aiaContext, aiaDescription, aiaLabel, aiaValue, aiaAuto } = element.dataset;
  return {
    id: aiaContext,
    label: aiaLabel,
    description: aiaDescription,
    value: aiaValue === undefined ? textOf(element) : parse(aiaValue),
    auto: aiaAuto !== "false"
  };
};

/** Returns what there is of the page; of items with one id the last one counts. */
export const collect = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const elements = document.querySelectorAll("[data-aia-context]");
  const fields = isWithheld() ? [] : [unsavedFields(), selection()];
  /** @type {Partial<PageItem>[]} */
  const items = [
    ...[tickedRows(), openInlines(), ...fields].filter((one) => one),
    ...[...elements].filter(isReadable).map(declared),
    ...[...root.items].map(([id, item]) => ({ ...item, id }))
  ];
  return [...new Map(items.map((one) => [String(one.id), one])).values()];
};

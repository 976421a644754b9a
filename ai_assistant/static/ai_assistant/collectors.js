// What only the browser knows of a page. Never a password, a file, a hidden field.
import { isChanged } from "./changed.js";
import { byId, root, word } from "./root.js";

// Both are those of safety/sensitive.py, word for word.
const SECRET_WORDS =
  /(^|_)(password|passwd|passphrase|passcode|pwd|(client_?)?secret|(auth|access)?_?token|credential|(api|private|access|signing|session)_?key|session_?data|(hashed|auth|encryption|recovery|backup|totp|otp|mfa)_?(key|code|seed|secret)|salt|hash|otp|pin)(e?s)?\d*($|_)/i;
const WORD_BREAKS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g;
// What else a person types: passwords in other words and languages, means to pay.
const TYPED =
  /p(assw|wd)|secret|token|api_?key|credential|(^|_)(one_time_code|cv[cv]|csc|iban|cc)($|_)/i;
const NO_VALUE = ["password", "hidden", "file", "submit", "button", "image", "reset"];
const NOT_FIELDS =
  "#changelist-search *, .actions *, .action-select, #action-toggle, .empty-form *, .selector *";
const MAX_ROWS = 100;
const FIELD_CHARS = 1000;
const SELECTION_CHARS = 2000;

const clean = (text) => text.trim().replace(/\s+/g, " ");
// What a page marks so is never read, or only said to be there.
const IGNORED = "[data-aia-ignore]";
const PRIVATE = "[data-aia-private]";
const KEPT_OUT = `${IGNORED}, ${PRIVATE}`;

const inside = (node, marks) =>
  (node.closest ? node : node.parentElement)?.closest(marks);
const outside = (node) => !root.contains(node) && !inside(node, IGNORED);

const textOf = (element) => {
  if (inside(element, KEPT_OUT)) return "";
  const copy = element.cloneNode(true);
  for (const part of copy.querySelectorAll(KEPT_OUT)) part.remove();
  return clean(copy.textContent);
};
// Of objects that are kept from the assistant nothing is told but which they are.
const isWithheld = () => "withheld" in (byId("aia-context")?.dataset ?? {});

const item = (name, count, value) => ({
  id: `page-${name}`,
  label: word(name, count),
  description: word(`${name}Are`),
  value
});

// --- the ticked rows of a list ---

const rowText = (box) => {
  const row = box.closest("tr");
  const cell =
    row?.querySelector("th") ?? row?.querySelector("td:not(.action-checkbox)");
  return (cell ? textOf(cell) : "").slice(0, 200);
};

const tickedRows = () => {
  const boxes = [...document.querySelectorAll("input.action-select:checked")].filter(
    outside
  );
  if (!boxes.length) return null;
  const rows = boxes.slice(0, MAX_ROWS);
  const across = document.querySelector("input.select-across")?.value === "1";
  return item("rows", boxes.length, {
    count: boxes.length,
    ...(across && { all_pages: true }),
    rows: rows.map((box) => ({
      id: box.value,
      ...(!isWithheld() && { text: rowText(box) })
    }))
  });
};

// --- what is changed in the form, and not saved ---

const valueOf = (field) => {
  if (field.type === "checkbox") return field.checked;
  if (!field.options) return field.value.slice(0, FIELD_CHARS);
  return [...field.selectedOptions].map(({ value, text }) => ({ value, text }));
};

const isSecret = ({ name, id, autocomplete }) => {
  const said = `${name} ${id} ${autocomplete}`.replace(WORD_BREAKS, "_");
  return [SECRET_WORDS, TYPED].some((words) => words.test(said.replace(/\W+/g, "_")));
};

const isReported = (field) =>
  field.name &&
  outside(field) &&
  !NO_VALUE.includes(field.type) &&
  !isSecret(field) &&
  !field.matches(NOT_FIELDS);

const unsavedFields = () => {
  const fields = {};
  const shown = "form[method=post] :is(input, select, textarea)";
  for (const field of document.querySelectorAll(shown))
    if (
      isReported(field) &&
      isChanged(field) &&
      (field.type !== "radio" || field.checked)
    )
      fields[field.name] = inside(field, PRIVATE) ? word("private") : valueOf(field);
  const count = Object.keys(fields).length;
  return count ? item("fields", count, fields) : null;
};

// --- parts of the form that were opened or got rows ---

const NEW_ROWS = ":is(tr, .inline-related)[id]:not(.has_original, .empty-form)";
const groups = () => [...document.querySelectorAll(".inline-group")].filter(outside);
const newRows = (group) =>
  [...group.querySelectorAll(NEW_ROWS)].filter(({ id }) => /-\d+$/.test(id)).length;
const blank = new Map(groups().map((group) => [group, newRows(group)])); // a form has some

const partOf = (group) => ({
  name: clean(group.querySelector("h2")?.textContent ?? group.id),
  rows: group.querySelectorAll(".has_original").length,
  added: newRows(group) - (blank.get(group) ?? 0),
  open: group.querySelector("details[open]") !== null
});

const openInlines = () => {
  const parts = groups()
    .map(partOf)
    .filter(({ added, open }) => added > 0 || open);
  return parts.length ? item("inlines", parts.length, parts) : null;
};

// --- selected text: remembered, since writing a message ends the selection ---

let selected = "";

const select = () => {
  const { anchorNode, focusNode } = getSelection();
  if (!anchorNode || !outside(anchorNode) || !outside(focusNode)) return;
  if (document.activeElement?.matches("input, textarea")) return;
  const selection = getSelection();
  const isKept = (part) => selection.containsNode(part, true);
  const around = selection.getRangeAt(0).commonAncestorContainer;
  const parts = around.querySelectorAll?.(KEPT_OUT) ?? [];
  const isRead = !inside(around, KEPT_OUT) && ![...parts].some(isKept);
  selected = isRead ? selection.toString().trim().slice(0, SELECTION_CHARS) : "";
};
select(); // it may be what this was loaded for
document.addEventListener("selectionchange", select);

const selection = () => selected && item("selection", "", selected);

// --- what the page itself declares ---

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const declared = (element) => {
  const { aiaContext, aiaDescription, aiaLabel, aiaValue, aiaAuto } = element.dataset;
  return {
    id: aiaContext,
    label: aiaLabel,
    description: aiaDescription,
    value: aiaValue === undefined ? textOf(element) : parsed(aiaValue),
    auto: aiaAuto !== "false"
  };
};

const known = ([id, said]) => ({ ...said, id });

export const collect = () => {
  const elements = [...document.querySelectorAll("[data-aia-context]")].filter(outside);
  const found = [
    ...[tickedRows(), openInlines()].filter(Boolean),
    ...(isWithheld() ? [] : [unsavedFields(), selection()].filter(Boolean)),
    ...elements.map(declared),
    ...[...root.items].map(known)
  ];
  return [...new Map(found.map((one) => [String(one.id), one])).values()];
};

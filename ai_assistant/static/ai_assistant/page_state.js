// What the page shows: its form, its list, its messages and buttons. The server masks
// what the assistant may not see before anybody else gets it.

import { fieldValue, isReported, isWithheld, textOf } from "./collectors.js";
import { isChanged } from "./dirty.js";
import { root } from "./root.js";

const MOST = 150; // fields
const OPTIONS = 20; // of one choice
const TEXTS = 20;
const CHARS = 300;
const FOLDED = "#changelist-filter *"; // makes room for the panel, and counts

/**
 * @param {string} selector
 * @param {ParentNode} [around]
 */
const textsOf = (selector, around = document) =>
  [...around.querySelectorAll(selector)]
    .filter(
      (one) => !root.contains(one) && (one.checkVisibility() || one.matches(FOLDED))
    )
    .map((one) => textOf(one) || /** @type {any} */ (one).value || "")
    .filter((text) => text)
    .slice(0, TEXTS)
    .map((text) => text.slice(0, CHARS));

/** @param {any} field */
const row = (field) => field.closest(".fieldBox, .form-row, td, li, p, div") ?? field;

/** @param {any} field */
const before = (field) => {
  const { defaultChecked, defaultValue, options, type } = field;
  if (type === "checkbox" || type === "radio") return defaultChecked;
  if (!options) return defaultValue;
  return [...options].filter((one) => one.defaultSelected).map((one) => one.text);
};

/** @param {any} field */
const describe = (field) => {
  const { name, options, required, type } = field;
  const box = row(field);
  const label = field.labels?.[0];
  const errors = textsOf(".errorlist li", box);
  const [help] = textsOf(".help", box);
  return {
    name,
    label: label ? textOf(label) : field.ariaLabel || undefined,
    kind: type,
    value: type === "radio" ? field.checked && field.value : fieldValue(field),
    ...(isChanged(field) && { saved: before(field) }),
    ...(required && { required }),
    ...(errors.length && { errors }),
    ...(help && { help }),
    ...(options && {
      options: [...options]
        .slice(0, OPTIONS)
        .map(({ value, text }) => ({ value, text })),
      ...(options.length > OPTIONS && { more_options: options.length - OPTIONS })
    })
  };
};

const fields = () => {
  /** @type {NodeListOf<any>} */
  const all = document.querySelectorAll(
    "form[method=post] :is(input, select, textarea)"
  );
  return [...all]
    .filter((field) => isReported(field) && (field.type !== "radio" || field.checked))
    .slice(0, MOST)
    .map(describe);
};

const list = () => {
  if (!document.querySelector("#changelist")) return;
  return {
    rows: textsOf("#result_list tbody tr th"),
    count: textsOf(".paginator").at(-1),
    filters: textsOf("#changelist-filter .selected"),
    columns: textsOf("#result_list thead .text"),
    actions: textsOf(".actions option[value]:not([value=''])")
  };
};

export const pageState = () => {
  const state = { heading: textsOf("#content h1, h1")[0], title: document.title };
  if (isWithheld()) return state;
  return {
    ...state,
    messages: textsOf(".messagelist li"),
    errors: textsOf(".errornote, .errorlist.nonfield li"),
    fields: fields(),
    list: list(),
    buttons: textsOf(".submit-row :is(input, a, button), .object-tools a"),
    dialogs: textsOf("dialog[open], [role=dialog]")
  };
};

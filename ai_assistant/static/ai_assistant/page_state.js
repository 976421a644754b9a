// What the page shows: its form, its list, its messages and buttons. The server masks
// what the assistant may not see before anybody else gets it.

import { fieldValue, isReported, isWithheld, textOf } from "./collectors.js";
import { isChanged } from "./dirty.js";
import { root } from "./root.js";

const MOST = 150; // fields
const OPTIONS = 20; // of one choice
const TEXTS = 20;
const CHARS = 300;
const OF_ADMIN = "body[data-admin-utc-offset], #changelist, .submit-row";
const DIALOG_BYTES = 2000;
// What others have written gives no field elsewhere its label.
const OF_OTHERS = "div.readonly, [data-aia-effect=asks]";
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

/**
 * @param {any} field
 * @param {any} [box] that has its errors and its help
 */
const describe = (field, box = row(field)) => {
  const { name, options, required, type } = field;
  const label = [...(field.labels ?? [])].find(
    (one) => one.closest(OF_OTHERS)?.contains(field) ?? true
  );
  const above = box.previousElementSibling; // where as_p() has the errors
  const errors = textsOf(".errorlist li", box);
  if (above?.matches(".errorlist:not(.nonfield)")) errors.push(...textsOf("li", above));
  const [help] = textsOf(".help, .helptext", box);
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
    .map((field) => describe(field));
};

/** Tells the fields of the page; outside of the admin with the forms that they are of. */
const filledIn = async () => {
  if (document.querySelector(OF_ADMIN)) return { fields: fields() };
  return (await import("./forms.js")).tellForms(describe, textsOf, MOST);
};

/** Dialogs as outlines: of what a person reads there, the server knows what is kept. */
const dialogs = async () => {
  const open = [...document.querySelectorAll("dialog[open], [role=dialog]")].filter(
    (one) => !root.contains(one) && one.checkVisibility()
  );
  if (!open.length) return;
  const { outline } = await import("./outline.js");
  return open.map((one) => outline(one, DIALOG_BYTES).lines);
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

export const pageState = async () => {
  const state = { heading: textsOf("#content h1, h1")[0], title: document.title };
  if (isWithheld()) return state;
  return {
    ...state,
    messages: textsOf(".messagelist li"),
    errors: textsOf(".errornote, .errorlist.nonfield li"),
    ...(await filledIn()),
    list: list(),
    buttons: textsOf(".submit-row :is(input, a, button), .object-tools a"),
    dialogs: await dialogs()
  };
};

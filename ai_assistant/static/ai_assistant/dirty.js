// What of the page's forms has been changed and not saved.

import { bare } from "./elements.js";
import { root } from "./root.js";

const SKIPPED = "[type=hidden], .action-select, #action-toggle, .actions *";

/**
 * Tells whether a field of a form differs from what the server put into it.
 *
 * @param {any} field an input, a select, a textarea or a button
 */
export const isChanged = (field) => {
  const { checked, defaultChecked, defaultValue, type, value } = field;
  if (type === "checkbox" || type === "radio") return checked !== defaultChecked;
  if (!field.options) return value !== (defaultValue ?? value); // a button has none
  /** @type {HTMLOptionElement[]} */
  const options = [...field.options];
  if (field.multiple || options.some((one) => one.defaultSelected))
    return options.some((one) => one.selected !== one.defaultSelected);
  return field.selectedIndex > 0;
};

/** @param {Element} field */
const isEdited = (field) => !field.matches(SKIPPED) && isChanged(field);

export const isDirty = () => {
  /** @type {NodeListOf<HTMLFormElement>} */
  const forms = document.querySelectorAll("form[method=post i]");
  return [...forms].some(
    (form) => !root.contains(form) && [...bare(form).elements].some(isEdited)
  );
};

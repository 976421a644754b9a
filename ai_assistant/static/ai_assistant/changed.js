// What of the page's forms has been changed and not saved.
import { root } from "./root.js";

const SKIPPED = "[type=hidden], .action-select, #action-toggle, .actions *";

// Whether a field of a form differs from what the server put into it.
export const isChanged = (field) => {
  const { checked, defaultChecked, defaultValue, options, type, value } = field;
  if (type === "checkbox" || type === "radio") return checked !== defaultChecked;
  if (!options) return value !== (defaultValue ?? value); // a button has no default
  const all = [...options];
  if (field.multiple || all.some((one) => one.defaultSelected))
    return all.some((one) => one.selected !== one.defaultSelected);
  return field.selectedIndex > 0;
};

const isEdited = (field) => !field.matches(SKIPPED) && isChanged(field);

export const isDirty = () =>
  [...document.querySelectorAll("form[method=post i]")].some(
    (form) => !root.contains(form) && [...form.elements].some(isEdited)
  );

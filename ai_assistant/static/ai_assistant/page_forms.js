// Fills in a form of a page outside of the admin. No form of Django is there to ask: what
// the page itself demands of its fields is looked at before any of them is touched.

import { closestOf, isReported, isWithheld, KEPT_OUT } from "./collectors.js";
import { fillFields } from "./fill.js";
import { formsOfPage } from "./forms.js";
import { pagePath } from "./root.js";

const LISTED = 30;
const ROW = /^(.+)-(\d+)-/; // of a formset
const YES = ["true", "on", "yes", "1"];
const NO = ["false", "off", "no", "0", ""];

/** @typedef {import("./forms.js").PageForm} PageForm */

/** @param {string[]} names */
const listed = (names) => [...new Set(names)].slice(0, LISTED).join(", ");

/**
 * @param {unknown} isSo
 * @param {string} text
 */
const refuseIf = (isSo, text) => {
  if (isSo) throw new Error(text);
};

/**
 * Returns the inputs of a field, by its own name or by that within the prefix of the form.
 *
 * @param {PageForm} form
 * @param {string} name
 */
const inputsOf = ({ inputs, prefix }, name) => {
  /** @param {string} full */
  const called = (full) => inputs.filter((one) => one.name === full);
  const exact = called(name);
  return exact.length || !prefix ? exact : called(`${prefix}-${name}`);
};

/**
 * Returns the row of a name, if the form does not have it yet.
 *
 * @param {PageForm} form
 * @param {string} name
 */
const newRowOf = ({ prefix, rows }, name) => {
  for (const one of [name, `${prefix}-${name}`]) {
    const [, formset, row] = ROW.exec(one) ?? [];
    if (rows[formset] <= Number(row)) return { name, formset, number: Number(row) };
  }
};

/**
 * @param {string} wanted
 * @param {string[]} fields
 */
const findForm = (wanted, fields) => {
  const all = formsOfPage();
  const own = wanted ? all.filter((one) => one.names.includes(wanted)) : all;
  /** @type {(form: PageForm, name: string) => any} */
  const has = (one, name) => inputsOf(one, name).length || newRowOf(one, name);
  const any = own.filter((one) => fields.some((name) => has(one, name)));
  const whole = any.filter((one) => fields.every((name) => has(one, name)));
  const found = whole.length ? whole : any;
  const several = listed((found.length ? found : all).map(({ name }) => name));
  refuseIf(
    wanted && own.length !== 1,
    `not exactly one form is called “${wanted}”. Forms: ${several}`
  );
  refuseIf(found.length > 1, `several forms have these fields. Forms: ${several}`);
  const known = own.flatMap(({ inputs }) => inputs.filter(isReported));
  refuseIf(
    !found.length,
    `no form has these fields. Fields: ${listed(known.map(({ name }) => name))}`
  );
  return found[0];
};

/** @param {any} input */
const textOfChoice = (input) =>
  (input.text ?? input.labels?.[0]?.textContent ?? "").trim();

/**
 * Returns the values of choices that are given by their value or by their text.
 *
 * @param {any[]} choices
 * @param {string[]} given
 */
const chosenOf = (choices, given) =>
  given.map((one) => {
    const found =
      choices.find(({ value }) => value === one) ??
      choices.find((choice) => textOfChoice(choice) === one);
    const open = choices.filter((choice) => !choice.disabled);
    refuseIf(
      !open.includes(found),
      `“${one}” is no choice. Choices: ${listed(open.map(({ value }) => value))}`
    );
    return found.value;
  });

/**
 * Throws why the page would not take a text.
 *
 * @param {any} input
 * @param {string} text
 */
const checkText = (input, text) => {
  const probe = input.cloneNode();
  probe.value = text;
  refuseIf(probe.value !== text, "does not take this value");
  refuseIf(!probe.checkValidity(), probe.validationMessage);
  const { maxLength, minLength } = input;
  refuseIf(maxLength >= 0 && text.length > maxLength, `takes ${maxLength} characters`);
  refuseIf(text && text.length < minLength, `needs ${minLength} characters`);
};

/**
 * Returns the values that inputs of one name get. Throws what the page would say.
 *
 * @param {any[]} inputs
 * @param {string[]} given
 */
const valuesFor = (inputs, given) => {
  const [first] = inputs;
  const { options, required, type } = first;
  const isEmpty = !given.some((one) => one);
  if (options || type === "radio" || (type === "checkbox" && inputs.length > 1)) {
    const isMany = type === "checkbox" || first.multiple;
    refuseIf(!isMany && given.length > 1, "takes one value");
    const values = chosenOf(options ? [...options] : inputs, given);
    refuseIf(required && isEmpty, "is required");
    return values;
  }
  refuseIf(given.length > 1 || inputs.length > 1, "takes one value");
  const [text = ""] = given;
  if (type === "checkbox") {
    const isOn = text === first.value || YES.includes(text.toLowerCase());
    refuseIf(!isOn && !NO.includes(text.toLowerCase()), "is ticked by true or false");
    refuseIf(required && !isOn, "is required");
    return isOn ? [first.value] : [];
  }
  const lines = text.replaceAll("\r\n", "\n");
  checkText(first, lines);
  return [lines];
};

/**
 * Returns what a field of the form gets. Throws why it cannot be filled in.
 *
 * @param {PageForm} form
 * @param {string} name
 * @param {string[]} given
 */
const fieldFor = (form, name, given) => {
  const all = inputsOf(form, name);
  const inputs = all.filter(isReported);
  refuseIf(!all.length, "is not in this form");
  refuseIf(all[0].type === "file", "takes a file, which the person chooses");
  refuseIf(
    !inputs.length || inputs.some((one) => closestOf(one, KEPT_OUT)),
    "is for the person alone"
  );
  refuseIf(
    inputs.some((one) => one.readOnly || one.matches(":disabled")),
    "is read-only"
  );
  const [, formset, row] = ROW.exec(inputs[0].name) ?? [];
  refuseIf(
    form.rows[formset] <= Number(row),
    `is in no row of ${formset}: it has ${form.rows[formset]}`
  );
  const field = {
    name: inputs[0].name,
    label: name,
    texts: {},
    onBack: () => dropRows()
  };
  return { ...field, values: valuesFor(inputs, given), inputs };
};

let dropRows = () => {}; // in which nothing is, once some were added

/**
 * Adds the rows that names are of. Returns of each name that has none, why.
 *
 * @param {PageForm} found
 * @param {string[]} names
 */
const addRows = async (found, names) => {
  const rows = names.map((name) => newRowOf(found, name)).filter(Boolean);
  if (!rows.length) return new Map();
  const formsets = await import("./formsets.js");
  dropRows = formsets.dropRows;
  return formsets.addRows(found.form, rows);
};

/**
 * @param {{ page: string, form: string, values: Record<string, string[]> }} wanted
 */
export const fillPage = async ({ page, form, values }) => {
  const { pathname, search } = new URL(page, location.href);
  refuseIf(pathname + search !== pagePath(), "the page is another one now");
  refuseIf(isWithheld(), "the page is for the person alone");
  const found = findForm(form, Object.keys(values));
  const refused = await addRows(found, Object.keys(values));
  const now = formsOfPage().find((one) => one.form === found.form);
  const grown = { ...found, ...now, prefix: found.prefix }; // by which names are known
  /** @type {string[]} */
  const wrong = [];
  const fields = Object.entries(values).flatMap(([name, given]) => {
    /** @type {any[]} */
    const none = [];
    try {
      refuseIf(refused.has(name), refused.get(name));
      return fieldFor(grown, name, given);
    } catch (error) {
      wrong.push(`${name}: ${/** @type {Error} */ (error).message}.`);
      return none;
    }
  });
  const told = wrong.length ? null : { form: found.name, ...fillFields(fields) };
  dropRows();
  refuseIf(!told, `The page refuses this. ${wrong.join(" ")}`);
  return told;
};

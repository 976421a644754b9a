// The forms of a page outside of the admin, by the names of Django: their prefixes, fields
// and formsets.

import { isReported, textOf } from "./collectors.js";
import { bare } from "./elements.js";
import { root } from "./root.js";

const TOTAL = "-TOTAL_FORMS";
const OPTIONS = 20; // of one choice
const OF_FORM = ":is(input, select, textarea):not([name*=__prefix__])"; // no empty row

/**
 * @typedef {object} PageForm
 * @property {any} form
 * @property {any[]} inputs all of them, also those that are not told
 * @property {string} prefix of the names of its fields, without the dash
 * @property {string[]} names by which it may be called
 * @property {string} name that no other form has
 * @property {Record<string, number>} rows of its formsets, by their prefix
 */

/**
 * Returns what the names of all fields begin with, up to a dash.
 *
 * @param {string[]} names
 */
const prefixOf = ([first = "", ...rest]) => {
  let size = first.lastIndexOf("-");
  while (size > 0 && !rest.every((one) => one.startsWith(first.slice(0, size + 1))))
    size = first.lastIndexOf("-", size - 1);
  return first.slice(0, Math.max(size, 0)).replace(/-\d+$/, "");
};

/** @param {any[]} inputs */
const rowsOf = (inputs) =>
  Object.fromEntries(
    inputs
      .filter(({ name }) => name.endsWith(TOTAL))
      .map(({ name, value }) => [name.slice(0, -TOTAL.length), Number(value)])
  );

/** @param {any} form */
const describe = (form) => {
  const own = bare(form);
  const inputs = [...own.elements].filter((one) => one.matches(OF_FORM));
  const prefix = prefixOf(inputs.filter(isReported).map(({ name }) => name));
  const said = ["id", "name", "action", "hx-post"].map((one) => own.getAttribute(one));
  const names = [...said.slice(0, 2), prefix, ...said.slice(2)].filter(Boolean);
  return { form, inputs, prefix, names, rows: rowsOf(inputs) };
};

/**
 * Returns the forms of the page that have a field to fill in, or could have a row of some.
 *
 * @returns {PageForm[]}
 */
export const formsOfPage = () => {
  const all = [...document.querySelectorAll("form")]
    .filter((one) => !root.contains(one))
    .map(describe)
    .filter(({ inputs, rows }) => inputs.some(isReported) || Object.keys(rows).length);
  return all.map((one, at) => {
    const others = all.flatMap((other) => (other === one ? [] : other.names));
    const names = [...one.names, `${at + 1}`];
    return { ...one, names, name: names.find((name) => !others.includes(name)) };
  });
};

/**
 * @param {any[]} inputs boxes of one name, or one input
 * @param {(field: any, box?: any) => any} describe
 */
const describeField = (inputs, describe) => {
  const [first] = inputs;
  const { name, type } = first;
  if (type !== "radio" && inputs.length === 1) return describe(first);
  const set = first.closest("fieldset");
  const isOwn =
    set && [...set.elements].every((one) => one.name === name || one === set);
  const chosen = inputs.filter(({ checked }) => checked).map(({ value }) => value);
  const legend = isOwn && set.querySelector("legend");
  return {
    ...describe(first, isOwn ? set : undefined),
    label: legend ? textOf(legend) : undefined,
    value: type === "radio" ? (chosen[0] ?? "") : chosen,
    options: inputs.slice(0, OPTIONS).map((one) => ({
      value: one.value,
      text: one.labels?.[0] ? textOf(one.labels[0]) : one.value
    }))
  };
};

/**
 * @param {(field: any, box?: any) => any} describe
 * @param {(selector: string, around: any) => string[]} textsOf
 * @param {number} most fields
 */
export const tellForms = async (describe, textsOf, most) => {
  const all = formsOfPage();
  const hasRows = all.some(({ rows }) => Object.keys(rows).length);
  const formsets = hasRows && (await import("./formsets.js"));
  const fields = all.flatMap(({ inputs, name }) =>
    [...Map.groupBy(inputs.filter(isReported), (one) => one.name).values()].map(
      (group) => ({ form: name, ...describeField(group, describe) })
    )
  );
  return {
    forms: all.map(({ form, name, prefix, rows }) => ({
      ...{ name, prefix, rows },
      new_row: Object.entries(rows).flatMap(formsets.nextRow),
      buttons: textsOf(":is(button:not([type=button]), [type=submit])", bare(form))
    })),
    fields: fields.slice(0, most)
  };
};

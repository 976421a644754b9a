// The page as an outline: roles, names, values, and refs to act on. A ref is bound to the
// very element, with its role, its name and what it does as they were.

import {
  closestOf,
  fieldValue,
  IGNORED,
  isSecret,
  isWithheld,
  KEPT_OUT,
  PRIVATE,
  textOf
} from "./collectors.js";
import { isHarmless, mayName, pathOf, sendsItself } from "./effects.js";
import { bare } from "./elements.js";
import { pagePath, root } from "./root.js";

/**
 * @typedef {object} Part
 * @property {any} element
 * @property {string} role
 * @property {string} name
 * @property {unknown} value
 * @property {string} state
 * @property {string} of the field it belongs to, by its name
 * @property {Part[]} inner
 * @property {string} [ref]
 * @property {number} [folded] how many parts are not told
 * @property {number} [size]
 */
/** @typedef {[number, string, string, string, unknown, string, string, string]} Line */

const BYTES = 10_500; // the server adds to it, and has the last word
const REPORT_CHARS = 30_000;
const NAME_CHARS = 80;
const VALUE_CHARS = 300;
const OPTIONS = 12;

const SKIPPED = [
  ...["script,style,noscript,template,link,head,option,legend,caption"],
  ...[".empty-form, .select2-container, .aia-filled, .aia-highlight-note, #aia"],
  ...["[aria-hidden=true]:not(select)", "input[type=hidden]", IGNORED]
].join(", ");
/** @type {Record<string, string>} */
const TYPES = {
  ...{ checkbox: "checkbox", radio: "radio", number: "spinbutton", range: "slider" },
  ...{ submit: "button", button: "button", reset: "button", image: "button" }
};
/** @type {Record<string, string>} */
const TAGS = {
  ...{ a: "link", area: "link", button: "button", summary: "summary", img: "img" },
  ...{ textarea: "textbox", h1: "heading", h2: "heading", h3: "heading" },
  ...{ h4: "heading", table: "table", tr: "row", ul: "list", ol: "list" },
  ...{ form: "form", fieldset: "group", details: "details", dialog: "dialog" },
  ...{ nav: "navigation", main: "main", aside: "complementary", iframe: "iframe" },
  ...{ object: "iframe", embed: "iframe" }
};
const FIELDS = [
  ...["textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch"],
  ...["spinbutton", "slider"]
];
const PRESSED = [
  ...["button", "link", "summary", "tab", "menuitem", "menuitemcheckbox"],
  ...["menuitemradio", "option", "treeitem", "clickable"]
];
const TOLD = [...FIELDS, ...PRESSED, "heading", "img", "iframe"]; // without what is in it
const UNNAMED = ["form", "table", "row", "dialog", "details", "alert", "status"];
const ROLES = [...TOLD, ...Object.values(TAGS), ...UNNAMED, "region", "tabpanel"];
const PARTS = [
  ...[...Object.keys(TAGS), "input", "select", "label", "[role]", "[onclick]"],
  ...["[contenteditable]", KEPT_OUT, SKIPPED]
].join(", ");
// Attributes that say what an element does, by themselves or to a script.
const DOES =
  /^(href|ping$|target|id$|name|type|form|popovertarget|on|hx-|data-(?!aia|state|select2)|[@_]|.+:)/;

// --- roles and names ---

/**
 * @param {any} part
 * @returns {string}
 */
const roleOf = (part) => {
  const element = bare(part);
  const [own] = (element.getAttribute("role") ?? "").split(" ");
  const tag = element.localName;
  if (tag === "input") return TYPES[element.type] ?? "textbox";
  if (tag === "select") return element.multiple ? "listbox" : "combobox";
  if (ROLES.includes(own)) return own;
  if (element.isContentEditable && !element.parentElement?.isContentEditable)
    return "textbox";
  const isLink = tag !== "a" || element.hasAttribute("href");
  const found = isLink && (tag === "section" ? "region" : TAGS[tag]);
  return found || (element.hasAttribute("onclick") ? "clickable" : "");
};

const CELL = "th, td:not(.action-checkbox)"; // which names its row

/** @param {Element} element */
const rowName = (element) => {
  const row = pathOf(element).find((one) =>
    bare(one).matches("tr, li, article, [role=row], [role=listitem]")
  );
  const cell = row?.querySelector(CELL) ?? row;
  const isText =
    cell && !cell.querySelector("input:not([type=hidden]), select, textarea");
  return isText ? textOf(cell).slice(0, VALUE_CHARS) : "";
};

/** @param {string} text */
const tidy = (text) => text.trim().replace(/\s+/g, " ").replaceAll('"', "'");

/** @type {Record<string, string>} */
const NAMED_BY = {
  ...{ group: "legend, h2, h3", details: "summary", table: "caption" },
  ...{ dialog: "h1, h2, h3", region: "h1, h2, h3" }
};

/**
 * @param {any} whole
 * @param {string} role
 * @returns {string}
 */
const nameOf = (whole, role) => {
  const element = bare(whole);
  if (element.matches(".action-select")) return "select"; // its label has the object
  const ids = element.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  const scope = element.getRootNode();
  const named = ids.map((/** @type {string} */ id) => scope.getElementById(id));
  const by = named
    .map((/** @type {any} */ one) => (one && mayName(one, element) ? textOf(one) : ""))
    .join(" ");
  const part = NAMED_BY[role] && element.querySelector(NAMED_BY[role]);
  const isField = FIELDS.includes(role);
  const label =
    isField && [...(element.labels ?? [])].find((one) => mayName(one, element));
  const isText = TOLD.includes(role) && !isField;
  const titled = isText && element.querySelector("[title], [alt], [aria-label]");
  const names = [
    by.trim(),
    element.getAttribute("aria-label"),
    label && textOf(label).replace(textOf(element), "").replace(/:$/, ""),
    ...[element.getAttribute("alt"), part && textOf(part)],
    role === "row" && rowName(element),
    isText && (textOf(element) || (element.localName === "input" && element.value)),
    ...[element.getAttribute("title"), element.getAttribute("placeholder")],
    titled &&
      ["title", "alt", "aria-label"]
        .map((one) => titled.getAttribute(one))
        .find(Boolean),
    isField && element.getAttribute("name")
  ];
  return tidy(names.find((one) => one) || "").slice(0, NAME_CHARS);
};

// --- refs ---

let count = 0;
let snapshot = "";
let path = "";
/** @type {Map<string, { held: WeakRef<Element>, print: string }>} */
const refs = new Map();
/** @type {WeakMap<Element, string>} */
let known = new WeakMap();
/** @type {WeakMap<Element, number>} */
const forms = new WeakMap();

/** @param {any} form */
const numberOf = (form) => {
  if (!forms.has(form)) forms.set(form, ++count);
  return forms.get(form);
};

/** Returns the id of the page as it is; another address begins anew. */
export const currentSnapshot = () => {
  if (path !== pagePath()) {
    path = pagePath();
    snapshot = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
    refs.clear();
    known = new WeakMap();
  }
  return snapshot;
};

/**
 * Returns what has to stay as it was.
 *
 * @param {any} whole
 * @param {string} role
 * @param {string} name
 */
const printOf = (whole, role, name) => {
  const element = bare(whole);
  const form = element.localName !== "form" && element.form;
  const does = element
    .getAttributeNames()
    .filter((/** @type {string} */ one) => DOES.test(one))
    .map((/** @type {string} */ one) => element.getAttribute(one));
  return JSON.stringify([
    ...[role, name, rowName(whole), ...does],
    /^(submit|button|checkbox|radio)$/.test(element.type) && element.value,
    form && numberOf(form),
    form &&
      PRESSED.includes(role) && [
        bare(form).getAttribute("action"),
        bare(form).getAttribute("method")
      ]
  ]);
};

/** @param {Part} part */
const refOf = ({ element, role, name }) => {
  const print = printOf(element, role, name);
  const had = known.get(element);
  if (had && refs.get(had)?.print === print) return had;
  const ref = `e${++count}`;
  known.set(element, ref);
  refs.set(ref, { held: new WeakRef(element), print });
  return ref;
};

/** @param {any} element */
const wayTo = (element) => {
  const way = pathOf(element);
  return way.at(-1) === document.documentElement ? way : [];
};

/**
 * Returns the element that got a ref, if it still is what it was.
 *
 * @param {string} ref
 * @returns {any}
 */
export const elementOf = (ref) => {
  currentSnapshot();
  const element = refs.get(ref)?.held.deref();
  if (!wayTo(element).length || root.contains(element)) return;
  const role = roleOf(element);
  const print = printOf(element, role, nameOf(element, role));
  return print === refs.get(ref).print ? element : undefined;
};

/**
 * Returns the part of the page that a ref was in, as far as it is left.
 *
 * @param {string} ref
 * @returns {Element}
 */
export const placeOf = (ref) => {
  const way = wayTo(refs.get(ref)?.held.deref());
  const part = way.find((one) => bare(one).matches("tr,fieldset,dialog,form,main"));
  return (
    part ?? document.querySelector("dialog[open], main, #content") ?? document.body
  );
};

// --- the tree ---

/** @param {any} element */
export const isShown = (element) =>
  bare(element).checkVisibility?.({ visibilityProperty: true }) ?? true;

/** @param {any} whole */
const nodesIn = (whole) => {
  const element = bare(whole);
  if (element.shadowRoot) return [...element.shadowRoot.childNodes];
  const given = element.localName === "slot" ? element.assignedNodes() : [];
  return given.length ? given : [...element.childNodes];
};

/** @param {any} element */
const isPlain = (element) =>
  !element.shadowRoot &&
  !element.querySelector(PARTS) &&
  ![...element.querySelectorAll("*")].some((one) => bare(one).shadowRoot);

/**
 * Returns the field that an element belongs to, as Django's admin marks it.
 *
 * @param {any} element
 * @param {boolean} isField
 */
const ownerOf = (element, isField) => {
  if (isField && element.name) return element.name;
  const inline = element.closest(".inline-group[id]");
  const prefix = inline ? `${inline.id.replace(/-group$/, "")}-0-` : "";
  const box = element.closest("[class*=field-]");
  const [, name = ""] = /(?:^|\s)field-(\S+)/.exec(box?.className ?? "") ?? [];
  return prefix + name;
};

/**
 * Returns the host to which a press leads, if it is not that of the page.
 *
 * @param {any} element
 */
const hostOf = (element) => {
  const own = ["href", "formaction"].map((one) => element.getAttribute(one));
  const sent = element.form && bare(element.form).getAttribute("action");
  try {
    const { host } = new URL(
      [...own, sent].find((one) => one),
      document.baseURI
    );
    return host === location.host ? "" : host;
  } catch {
    return "";
  }
};

/** @param {any} field */
const shownValue = (field) => {
  const { checked, options, type } = field;
  if (type === "checkbox" || type === "radio") return checked;
  if (!options) return `${field.value ?? textOf(field)}`.slice(0, VALUE_CHARS);
  const isMoved = field.matches(".selector select"); // what is in it is chosen
  const chosen = isMoved
    ? [...options].map(({ text }) => ({ text }))
    : fieldValue(field);
  const texts = chosen.map((/** @type {any} */ one) => one.text.trim());
  return texts.join(", ").slice(0, VALUE_CHARS);
};

/**
 * @param {any} element
 * @param {string} role
 */
const stateOf = (element, role) => {
  const { ariaExpanded, ariaSelected, disabled, readOnly, required, type } = element;
  const isOpen = role === "details" ? element.open : ariaExpanded === "true";
  const host = PRESSED.includes(role) && hostOf(element);
  const acts = FIELDS.includes(role) ? sendsItself(element) : !isHarmless(element);
  return [
    host && `to ${host}`,
    disabled && "disabled",
    readOnly && "read-only",
    required && "required",
    element.ariaInvalid === "true" && "invalid",
    ariaSelected === "true" && "selected",
    (role === "details" || ariaExpanded) && (isOpen ? "open" : "closed"),
    type === "date" || type === "time" || type === "file" ? type : "",
    (FIELDS.includes(role) || PRESSED.includes(role)) && acts && "asks"
  ]
    .filter((one) => one)
    .join(" ");
};

/** @param {any} element */
export const isUnread = (element) =>
  ["password", "file"].includes(element.type) || isSecret(element);

/**
 * @param {any} element
 * @param {Part} part
 */
const addField = (element, part) => {
  part.of = ownerOf(element, true);
  if (isUnread(element)) part.state = "never read";
  else {
    part.value = shownValue(element);
    const { options } = element;
    if (options && !element.matches(".selector *")) {
      const texts = [...options].slice(0, OPTIONS).map(({ text }) => text.trim());
      const more =
        options.length > OPTIONS ? [`… ${options.length - OPTIONS} more`] : [];
      part.value = {
        is: part.value,
        of: [...texts, ...more].map((one) => one.slice(0, 40))
      };
    }
    part.ref = refOf(part);
  }
};

/** @param {any} element */
const isHiddenBox = (element) =>
  element.closest(".selector") && !element.matches("select:not([name$=_old])");

/**
 * @param {any} whole
 * @param {Part[]} parts what was found in it is added
 * @returns {void}
 */
const walk = (whole, parts) => {
  const element = bare(whole);
  if (root === whole || element.matches(SKIPPED) || !isShown(whole)) return;
  const role = roleOf(whole);
  const isField = FIELDS.includes(role);
  if (element.matches(PRIVATE)) return void parts.push(partOf(whole, "private"));
  if (isHiddenBox(element) && element.matches("input, select, button, a, p, label"))
    return;
  const isWhole = TOLD.includes(role) && (role !== "heading" || isPlain(element));
  if (isWhole) {
    const part = partOf(whole, role);
    part.state = stateOf(element, role);
    if (isField) addField(element, part);
    else if (PRESSED.includes(role)) part.ref = refOf(part);
    if (role === "iframe") part.state = "cannot be read";
    if (part.name || part.ref || part.state) parts.push(part);
    return;
  }
  if (!role && isPlain(element)) return addText(textOf(whole), whole, parts);
  const part = partOf(whole, role);
  for (const node of nodesIn(whole)) {
    if (node instanceof Text) addText(node.data.trim(), whole, part.inner);
    else if (node instanceof Element) walk(node, part.inner);
  }
  if (!part.inner.length) return;
  if (!role || !(part.name || UNNAMED.includes(role)))
    return void parts.push(...part.inner);
  part.state = role === "details" ? stateOf(element, role) : "";
  parts.push(part);
};

/**
 * @param {string} text
 * @param {any} element
 * @param {Part[]} parts
 */
const addText = (text, element, parts) => {
  if (!/[\p{L}\p{N}]/u.test(text) || bare(element).localName === "label") return;
  if (closestOf(element, KEPT_OUT)) return;
  const part = partOf(element, "text");
  part.name = tidy(text).slice(0, VALUE_CHARS);
  parts.push(part);
};

/**
 * @param {any} element
 * @param {string} role
 * @returns {Part}
 */
const partOf = (element, role) => {
  const isNamed = role && role !== "text" && role !== "private";
  const name = isNamed ? nameOf(element, role) : "";
  const own = bare(element);
  const named = role === "row" ? own.querySelector(CELL) : null;
  const of = ownerOf(named ?? own, false);
  return { element, role, name, value: null, state: "", of, inner: [] };
};

// --- what is told of it ---

const encoder = new TextEncoder();

/**
 * @param {Part} part
 * @returns {number}
 */
const sizeOf = (part) => {
  const { role, name, value, state } = part;
  const texts = [role, name, state, value ? JSON.stringify(value) : ""];
  part.size ??= encoder.encode(texts.join()).length + 16;
  return part.size + (part.folded ? 0 : sizeIn(part.inner));
};

/** @param {Part[]} parts */
const sizeIn = (parts) => parts.reduce((sum, one) => sum + sizeOf(one), 0);

/**
 * @param {Part[]} parts
 * @returns {number}
 */
const countIn = (parts) => parts.reduce((sum, one) => sum + 1 + countIn(one.inner), 0);

/**
 * Folds the deepest parts, of these the largest, until there is room for the rest.
 *
 * @param {Part[]} parts
 * @param {number} most
 */
const fold = (parts, most) => {
  /** @type {{ depth: number, size: number, part: Part }[]} */
  const found = [];
  /**
   * @param {Part} part
   * @param {number} depth
   */
  const look = (part, depth) => {
    if (part.inner.length && depth) found.push({ depth, size: sizeOf(part), part });
    for (const one of part.inner) look(one, depth + 1);
  };
  for (const part of parts) look(part, 0);
  found.sort((one, other) => other.depth - one.depth || other.size - one.size);
  let size = sizeIn(parts);
  for (const { part } of found) {
    if (size <= most) return;
    size -= sizeIn(part.inner);
    part.folded = countIn(part.inner);
    part.ref = refOf(part);
  }
};

/**
 * @param {Part[]} parts
 * @param {Line[]} lines
 */
const linesOf = (parts, lines = [], depth = 0) => {
  for (const part of parts) {
    const { element, folded, of, ref = "", role, name, state, value } = part;
    const told = folded ? `${state} folded ${folded}`.trim() : state;
    const href = role === "link" ? (element.getAttribute("href") ?? "") : "";
    lines.push([depth, ref, role, name, value, told, of, href.slice(0, 200)]);
    if (!folded) linesOf(part.inner, lines, depth + 1);
  }
  return lines;
};

/** @param {string} [ref] of a part, or of what was in it */
export const outlineAt = (ref) =>
  outline(ref ? (elementOf(ref) ?? placeOf(ref)) : document.body);

/**
 * Returns the outline of a part of the page, for the server to mask.
 *
 * @param {Element} [around]
 * @param {number} [most] bytes
 */
export const outline = (around = document.body, most = BYTES) => {
  const of = { snapshot: currentSnapshot(), title: document.title };
  /** @type {Part[]} */
  const parts = [];
  if (isWithheld()) return { ...of, lines: [] };
  walk(around, parts);
  fold(parts, most);
  let left = most === Infinity ? most : REPORT_CHARS;
  const lines = linesOf(parts).filter((line) => {
    left -= JSON.stringify(line).length + 1;
    return left > 0;
  });
  return { ...of, lines };
};

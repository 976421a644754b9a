// What a click on an element may do, or typing into a field: as far as that is known
// without doing it. What is not known to change nothing is asked about.

import { around, bare } from "./elements.js";

const EFFECT = "data-aia-effect"; // "ui": changes nothing; "asks": sends what is typed
export const ASKING = "[data-aia-ask]"; // a press is a message of the person
// What others may have written, with marks and classes of their choice: values that
// Django's admin shows, and what is edited.
const OF_OTHERS = [
  `[${EFFECT}=asks]`,
  "[contenteditable] *",
  "div.readonly",
  ASKING,
  ".tabular td:has(> p:first-child:not([class]))" // a value that nobody edits
].join();
const CELLS = "#result_list td, #result_list th";

// Attributes with which a page listens, and what htmx, hyperscript and their like do.
const WIRED =
  /^(on(?!(before)?(un)?load$|error$|resize$|scroll|hashchange$|page|submit$|reset$)|@|x-on:|v-on:|wire:|unicorn:|\(|jsaction$|ping$|commandfor$|_$|(data-)?script$|up-|ng-|(data-)?hx-(action|get|post|put|patch|delete|query|on|ws|sse)|data-(on|reflex|(action|method|remote|confirm|auto-?(save|submit)|turbo-method)$))/;
const ELSEWHERE = /\.(outside|away|window|document)\b/;
const OTHERS =
  "a[href],area[href],button,input,label,select,summary,[contenteditable],[role=button],[role=link],[role=menuitem]";
const OPENS = "[role=tab],[popovertarget],[aria-expanded],[aria-haspopup]";
// Of Django's admin: rows of inlines, and what picks a date. Of django-formset-js: rows.
const OF_DJANGO =
  ".add-row a, .datetimeshortcuts a, .calendarbox a, .clockbox a, .collapse-toggle, [data-formset-add]";
const FROM = "[hx-trigger*='from:'], [data-hx-trigger*='from:']";
const WHEN_SHOWN = /\b(toggle|intersect|revealed)\b/;
const TICKS = ["checkbox", "radio"];

/**
 * Returns what an event on an element passes: across slots and open shadow roots too.
 *
 * @param {any} element
 * @returns {Element[]}
 */
export const pathOf = (element) => {
  const passed = [];
  for (let one = element; one; one = around(one)) passed.push(one);
  return passed;
};

/** @param {Element} element */
const wiresOf = (element) =>
  bare(element)
    .getAttributeNames()
    .filter((/** @type {string} */ name) => WIRED.test(name) && !ELSEWHERE.test(name));

/** @param {Element} element */
const mayListen = (element) =>
  wiresOf(element).length || bare(element).localName.includes("-");

/** @param {any} one */
const triggerOf = (one) =>
  bare(one).getAttribute("hx-trigger") ?? bare(one).getAttribute("data-hx-trigger");

/**
 * Tells whether an element of htmx waits for what happens to this one.
 *
 * @param {Element} field
 */
const isWatched = (field) =>
  [...document.querySelectorAll(FROM)].some((one) => {
    const trigger = triggerOf(one);
    return (
      [...trigger.matchAll(/from:\s*\(?([^\s,)]+)/g)].some(([, from]) => {
        try {
          return bare(field).closest(from);
        } catch {
          return true;
        }
      }) || /from:\s*\(?(document|window|closest|find|next|previous)/.test(trigger)
    );
  });

/**
 * Tells whether an element, or one around it, is one of these.
 *
 * @param {any} element
 * @param {string} those
 */
export const isIn = (element, those) =>
  pathOf(element).some((one) => bare(one).matches(those));

/**
 * Tells whether a part may name an element: what others have written names nothing else.
 *
 * @param {any} part
 * @param {any} element
 */
export const mayName = (part, element) =>
  bare(bare(part).closest(OF_OTHERS))?.contains(element) ?? true;

/** @param {Element} part */
const sendsFields = (part) => {
  const one = bare(part);
  if (one.matches(OF_OTHERS)) return true;
  // A form is sent when it is submitted, unless it says otherwise.
  const isPlain =
    one.localName === "form" && !/hx-trigger/.test(one.getAttributeNames().join());
  return wiresOf(part).some(
    (/** @type {string} */ name) => !(isPlain && /^(data-)?hx-(?!on)/.test(name))
  );
};

/**
 * Tells whether a field is sent by itself when it is changed.
 *
 * @param {any} field
 */
export const sendsItself = (field) =>
  [...pathOf(field), ...(field.form ? pathOf(field.form) : [])].some(sendsFields) ||
  isWatched(field);

/** @param {any} element */
const submits = (element) =>
  element.type === "image" || (element.form && /^(submit|reset)$/.test(element.type));

/** @param {Element} element */
const leaves = (element) => {
  const href = element.getAttribute("href") ?? element.getAttribute("xlink:href");
  return href !== null && !/^#[\w-]*$/.test(href);
};

/**
 * Tells whether what a click shows sends something by that.
 *
 * @param {any} element
 */
const sendsWhenShown = (element) => {
  const shown =
    element.popoverTargetElement ?? element.closest("summary")?.parentElement;
  if (!shown) return false;
  const inner = [...bare(shown).querySelectorAll("*")].map(triggerOf);
  return (
    mayListen(shown) || isWatched(shown) || inner.some((one) => WHEN_SHOWN.test(one))
  );
};

/**
 * Tells whether a press on an element of the page itself neither sends nor leaves.
 *
 * @param {any} element
 */
export const staysHere = (element) =>
  !isIn(element, OF_OTHERS) &&
  !submits(element) &&
  (element.protocol === "javascript:" || !leaves(element));

/**
 * Tells whether it is known that a click on an element changes nothing.
 *
 * @param {any} element
 */
export const isHarmless = (element) => {
  if (element instanceof HTMLFormElement) return false;
  if (submits(element) || leaves(element) || element.localName === "label")
    return false;
  const [, ...outer] = pathOf(element);
  if (
    outer.some(
      (one) => bare(one).matches(OTHERS) && /** @type {any} */ (one).control !== element
    )
  )
    return false;
  const isOfPage = !isIn(element, `${OF_OTHERS}, ${CELLS}`);
  // Such a click changes nothing, or adds a row to a formset: the page says so.
  if (isOfPage && element.matches(`[${EFFECT}=ui], [data-aia-add-row]`)) return true;
  if ([element, ...outer].some(mayListen) || isWatched(element)) return false;
  if (sendsWhenShown(element)) return false;
  if (TICKS.includes(element.type)) return !sendsItself(element);
  if (!isOfPage) return false;
  const parent = element.parentElement;
  if (element.localName === "summary")
    return (
      parent?.localName === "details" && parent.querySelector("summary") === element
    );
  return element.matches(OPENS) || element.matches(OF_DJANGO);
};

// Acts on the page as a person would: with events that its scripts hear, on nothing but
// what the outline has told of. What may change something runs only if it was approved.

import { isReported } from "./collectors.js";
import { ASKING, isHarmless, isIn, pathOf, sendsItself } from "./effects.js";
import { bare } from "./elements.js";
import { chosen, fillInput, inputsOf, put } from "./fill.js";
import {
  currentSnapshot,
  elementOf,
  isShown,
  isUnread,
  outline,
  placeOf
} from "./outline.js";
import { root } from "./root.js";

/** @typedef {{ action: string, ref?: string, value?: string }} Action */

const PART_BYTES = 4000;
const READ_BYTES = 6000; // of all that is read in a call
const SETTLED_MS = 400; // by then a page that is left has begun to go
const LEFT_MS = 30_000;
const WAITED_MS = 20_000; // in a call
const KEYS = /^(Escape|Tab|Home|End|Page(Up|Down)|Arrow(Up|Down|Left|Right))$/;
const TICKS = ["checkbox", "radio"];
const BUTTONS = ["submit", "button", "reset", "image"]; // the value is what they send
const TYPED = "input, textarea, select, [contenteditable]";

const ASKS = "may change something: call again with ask=true, then the person is asked";
const GONE = "is not there any more, or not what it was: take a ref of the new outline";

/** @param {number} ms */
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * @param {unknown} isSo
 * @param {string} text
 */
const refuseIf = (isSo, text) => {
  if (isSo) throw new Error(text);
};

let isLeaving = false;
addEventListener("beforeunload", () => {
  isLeaving = true;
});

/** Waits for what an action has begun: until the page is gone, if it is left. */
const settle = async () => {
  await sleep(SETTLED_MS);
  if (isLeaving) await sleep(LEFT_MS);
  isLeaving = false; // it was a download
};

/**
 * Does something to the page; the field that the person is in keeps the focus.
 *
 * @param {() => void} work
 */
const undisturbed = (work) => {
  const held = /** @type {HTMLElement | null} */ (document.activeElement);
  work();
  if (document.activeElement === held || !held?.isConnected) return;
  if (held.matches(TYPED)) held.focus({ preventScroll: true });
};

/**
 * @param {any} element
 * @param {string} kind
 * @param {object} [more]
 */
const fire = (element, kind, more) => {
  const Kind = kind.startsWith("key") ? KeyboardEvent : MouseEvent;
  const all = { bubbles: true, cancelable: true, composed: true, ...more };
  return element.dispatchEvent(new Kind(kind, all));
};

/** @param {any} element */
const pressMouse = (element) => {
  for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"])
    fire(element, kind);
};

/** @param {any} element */
const checkField = (element) => {
  const isTyping = pathOf(document.activeElement).includes(element);
  refuseIf(isUnread(element), "is for the person alone");
  refuseIf(element.readOnly || element.ariaReadOnly === "true", "is read-only");
  refuseIf(isTyping, "is being typed in by the person, and left alone");
};

/**
 * @param {any} element
 * @param {string[]} values
 */
const set = (element, values) => {
  const isMarked = isReported(element) || element.matches(".selector select");
  if (!element.form || !isMarked || element.getRootNode() !== document)
    return put([element], values);
  const inputs =
    element.type === "radio" ? inputsOf(element.name, element.form) : [element];
  fillInput(inputs, values);
};

/** @type {Record<string, (element: any, value: string) => void>} */
const FIELD = {
  fill: (element, value) => {
    refuseIf(BUTTONS.includes(element.type), "is a button, which takes no text");
    refuseIf(TICKS.includes(element.type), "is ticked by check");
    refuseIf(element.options, "is chosen from by select");
    refuseIf(!("value" in element), "is an editor, which is for the person");
    const text = value.replaceAll("\r\n", "\n");
    const probe = element.cloneNode();
    probe.value = text;
    refuseIf(probe.value !== text, "does not take this value");
    set(element, [text]);
  },
  select: (element, value) => {
    refuseIf(!element.options, "has no options");
    const left =
      element.matches(".selector select") &&
      inputsOf(`${element.name}_old`, element.form)[0];
    const options = [...element.options, ...(left?.options ?? [])];
    const found = options.find(
      (one) => one.text.trim() === value || one.value === value
    );
    refuseIf(!found || found.disabled, `has no option “${value}”`);
    set(
      element,
      element.multiple ? [...chosen([element]), found.value] : [found.value]
    );
  },
  check: (element, value) => {
    refuseIf(!TICKS.includes(element.type), "is no box to tick");
    const isOn = !["false", "off", "no"].includes(value.toLowerCase());
    refuseIf(!isOn && element.type === "radio", "is left by ticking another one");
    set(element, isOn ? [element.value] : []);
  }
};

/**
 * @param {any} element
 * @param {string} key
 */
const pressKey = (element, key) => {
  const goesOn = fire(element, "keydown", { key, code: key });
  fire(element, "keyup", { key, code: key });
  if (key !== "Enter" || !goesOn || element.localName === "textarea") return;
  if (!element.form || element.localName !== "input") return pressMouse(element);
  const form = bare(element.form);
  const all = [...form.elements];
  const first = all.find((/** @type {any} */ one) => /^(submit|image)$/.test(one.type));
  if (first) first.click();
  else form.requestSubmit();
};

/** @param {string} text */
const appears = (text) =>
  outline(document.body, Infinity).lines.some(
    ([, , role, name, , , of]) => !of && role !== "link" && name.includes(text)
  );

let waitsUntil = 0;

/** @param {string} text */
const waitFor = async (text) => {
  refuseIf(!text, "needs the text to wait for");
  for (; !appears(text); await sleep(300))
    refuseIf(Date.now() > waitsUntil, `“${text}” did not appear`);
};

/**
 * @param {Action} wanted
 * @param {boolean} isApproved
 * @param {() => Promise<boolean>} mayGoOn
 */
const act = async ({ action, ref, value = "" }, isApproved, mayGoOn) => {
  if (action === "wait_for") return waitFor(value);
  const found = elementOf(ref);
  refuseIf(!found, GONE);
  refuseIf(!isShown(found), "is not shown now: open what it is in");
  if (action === "read") return;
  if (action === "scroll") return bare(found).scrollIntoView({ block: "center" });
  refuseIf(bare(found).matches(":disabled, [aria-disabled=true]"), "is disabled");
  refuseIf(isIn(found, ASKING), "says what the person alone may say");
  const isField = action in FIELD;
  const isTick = action === "click" && TICKS.includes(found.type);
  const isKnown = isField
    ? !sendsItself(found)
    : action === "click"
      ? isHarmless(found)
      : KEYS.test(value) && !sendsItself(found);
  if (isField || isTick) checkField(found);
  refuseIf(!isKnown && !isApproved, ASKS);
  if (isApproved) {
    refuseIf(!(await mayGoOn()), "was stopped");
    // While it was asked, the page may have gone on.
    refuseIf(elementOf(ref) !== found, GONE);
  }
  undisturbed(() => {
    if (isField) FIELD[action](found, value);
    else if (action === "click") pressMouse(found);
    else pressKey(found, value);
  });
  if (!isField && !KEYS.test(value)) await settle();
};

/** @typedef {{ snapshot: string, actions: Action[], approved: boolean }} Wanted */

/**
 * @param {Wanted} wanted
 * @param {() => Promise<boolean>} mayGoOn
 */
const carryOut = async ({ snapshot, actions, approved }, mayGoOn) => {
  isLeaving = false;
  waitsUntil = Date.now() + WAITED_MS;
  /** @type {{ action: number, error: string } | null} */
  let failed = null;
  let done = 0;
  const isThere = snapshot === currentSnapshot();
  for (const one of actions) {
    try {
      refuseIf(!isThere, GONE);
      await act(one, approved, mayGoOn);
      done += 1;
    } catch (error) {
      failed = { action: done + 1, error: /** @type {Error} */ (error).message };
      break;
    }
  }
  const read = actions.slice(0, done).filter(({ action }) => action === "read");
  const { ref } = actions[Math.min(done, actions.length - 1)];
  const held = document.activeElement;
  if (!held.matches(TYPED) || root.contains(held))
    bare(elementOf(ref))?.scrollIntoView({ block: "nearest" });
  return {
    ...outline(isThere ? placeOf(ref) : document.body, PART_BYTES),
    done,
    failed,
    read: read
      .map((one) => elementOf(one.ref))
      .filter((element) => element)
      .map((element) => outline(element, READ_BYTES / read.length).lines)
  };
};

/** @type {Promise<any>} */
let last = Promise.resolve();

/**
 * Carries out actions in order, up to the first that fails; tells how the page is then.
 * Another call waits for its turn.
 *
 * @param {Wanted} wanted
 * @param {() => Promise<boolean>} mayGoOn
 */
export const pageAction = (wanted, mayGoOn) => {
  const run = () => carryOut(wanted, mayGoOn);
  last = last.then(run, run);
  return last;
};

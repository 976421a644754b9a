// Applies the server's frames: numbered lists of operations on elements by id.
// The only place that turns text into HTML.

import { byId, csrfField, emit, lazy, policy, root, translate } from "./root.js";
import { setRunState, speak } from "./state.js";

const HOLD_MS = 5000;
const STATEFUL = "details[id], input[id], textarea[id], pre, .aia-diff";

const loadHtmx = lazy(() => import("./htmx.js"));
/** @type {((element: Element) => void) | undefined} */
let process;

/** Loads htmx, which then processes what the panel has by then. */
export const startHtmx = async () => {
  process ??= (await loadHtmx())?.process;
};

/**
 * Sends the request that an element's attributes describe for the event `aia:use`;
 * resolves to its context once all is drawn. Without htmx there is none.
 *
 * @param {HTMLElement} element
 * @param {Record<string, string>} [values] that only the page knows
 * @param {() => unknown} [before] called before it is drawn; false keeps it from that
 * @returns {Promise<Partial<RequestContext>>}
 */
export const request = async (element, values, before) => {
  await startHtmx();
  if (!element.dataset.htmxPowered) return {};
  return new Promise((done) => {
    const detail = { values, before, done };
    element.dispatchEvent(new CustomEvent("aia:use", { detail }));
  });
};

/** @param {string} html */
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(html);
  return template.content;
};

/**
 * Makes new elements work: forms get the token that only a page knows.
 *
 * @param {Element} element
 */
const activate = (element) => {
  if (!element.querySelector("form, [data-aia-hx-get]")) return;
  const token = csrfField();
  for (const form of element.querySelectorAll("form"))
    if (token && !form.elements.namedItem(token.name)) form.append(token.cloneNode());
  process?.(element);
};

// --- what a person did to an element is kept when it is drawn anew ---

/** @param {HTMLInputElement} field */
const fieldState = (field) => ({
  value: field.value,
  checked: field.checked,
  changed: field.value !== field.defaultValue || field.checked !== field.defaultChecked
});

/**
 * @param {Element} element
 * @returns {any[]} inputs, folds and boxes that scroll
 */
const statefulNodes = (element) =>
  [element, ...element.querySelectorAll(STATEFUL)].filter((node) =>
    node.matches(STATEFUL)
  );

/** @param {Element} element */
const captureState = (element) => {
  const states = statefulNodes(element).map((node) => ({
    id: node.id,
    tag: node.tagName,
    open: node.dataset.touched && node.open,
    left: node.scrollLeft,
    top: node.scrollTop,
    ...(node.matches("input, textarea") ? fieldState(node) : {})
  }));
  const active = /** @type {HTMLInputElement} */ (document.activeElement);
  const focused = element.contains(active) ? active : null;
  return { states, focused, message: element.closest(".aia-msg")?.id };
};

/** @typedef {ReturnType<typeof captureState>} State */

/**
 * @param {any} node
 * @param {any} old
 */
const restoreNode = (node, old) => {
  if (old.open !== undefined) {
    node.open = old.open;
    node.dataset.touched = "1";
  }
  if (old.changed) {
    node.value = old.value;
    node.checked = old.checked;
  }
  if (old.left) node.scrollLeft = old.left;
  if (old.top) node.scrollTop = old.top;
};

/** @param {State} state */
const restoreFocus = ({ focused, message }) => {
  if (!focused || focused.isConnected) return;
  const summary = focused.matches("summary") && focused.parentElement.id;
  const fallback = message ? byId(message) : byId("aia-scroll");
  /** @type {HTMLElement} */
  const heir = summary ? byId(summary)?.querySelector("summary") : null;
  const target = heir ?? ((focused.id && byId(focused.id)) || fallback);
  if (target === fallback && message) target?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
  if (target !== fallback && focused.matches("input:not([type=hidden]), textarea"))
    /** @type {HTMLInputElement} */ (target)?.setSelectionRange(
      focused.selectionStart,
      focused.selectionEnd
    );
};

/**
 * @param {Element} element
 * @param {State} state
 */
const restoreState = (element, state) => {
  const nodes = statefulNodes(element);
  state.states.forEach((old, index) => {
    const same = old.id ? byId(old.id) : nodes[index];
    if (same?.tagName === old.tag) restoreNode(same, old);
  });
  restoreFocus(state);
};

// --- drawing ---

/**
 * @param {Element} old
 * @param {Element} fresh
 */
const replace = (old, fresh) => {
  const state = captureState(old);
  old.replaceWith(fresh);
  activate(fresh);
  restoreState(fresh, state);
};

/**
 * Draws `html` as the content of an element.
 *
 * @param {Element} element
 * @param {string} html
 */
export const draw = (element, html) => {
  const state = captureState(element);
  element.replaceChildren(parse(html));
  activate(element);
  restoreState(element, state);
};

/**
 * Appends elements; each whose id is there already takes the place of that one.
 *
 * @param {Element} parent
 * @param {string} html
 */
const append = (parent, html) => {
  for (const fresh of [...parse(html).children]) {
    const old = fresh.id && byId(fresh.id);
    if (old) replace(old, fresh);
    else {
      parent.append(fresh);
      activate(fresh);
    }
  }
};

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | null} value none removes it
 */
const setAttribute = (element, name, value) => {
  if (!/^(data-|aria-|(hidden|disabled)$)/.test(name)) return;
  if (element === root && name === "data-state") setRunState(value);
  else if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
};

/**
 * @param {Element} element
 * @param {string} text
 */
const appendText = (element, text) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {Text | null} */
  let last = null;
  while (walker.nextNode()) last = /** @type {Text} */ (walker.currentNode);
  if (last) last.appendData(text);
  else element.append(text);
};

/** @type {Record<string, (element: Element, ...values: any[]) => void>} */
const operations = {
  append,
  replace: draw,
  outer: (element, html) => {
    const fresh = parse(html).firstElementChild;
    if (fresh) replace(element, fresh);
    else element.remove();
  },
  text: appendText,
  remove: (element) => element.remove(),
  attr: setAttribute
};

/** @param {FrameOperation} operation */
const applyOperation = ([name, target, ...rest]) => {
  if (name === "say") return speak("say", target);
  if (name === "event") return emit(target, rest[0]);
  if (name === "accepted") return emit("accepted", target);
  const element = byId(target);
  if (element) operations[name]?.(element, ...rest);
};

/** @param {Frame} frame */
const isOld = (frame) =>
  frame.r && frame.r === root.dataset.run && frame.s < Number(root.dataset.seq);

/** @param {Frame} frame */
const applyFrame = (frame) => {
  if (isOld(frame)) return;
  for (const operation of frame.o) {
    try {
      applyOperation(operation);
    } catch (error) {
      console.error("aia", operation[0], error);
    }
  }
  if (!frame.r) return;
  root.dataset.run = frame.r;
  root.dataset.seq = `${frame.s}`;
  const stop = byId("aia-stop-form");
  if (stop) stop.elements.run.value = frame.r;
};

// --- frames wait for the next paint ---

/** @type {Frame[]} */
let queue = [];
let scheduled = 0;
let heldSince = 0;

/** Tells whether text is selected in the growing block, which is about to be replaced. */
const isHeld = () => {
  const selection = getSelection();
  const blocks = "[aria-busy=true] .aia-body > .aia-b:last-child";
  const tail = !selection.isCollapsed && [...root.querySelectorAll(blocks)].at(-1);
  const inTail = tail && selection.containsNode(tail, true);
  if (!inTail) heldSince = 0;
  else heldSince ||= Date.now();
  return inTail && Date.now() - heldSince < HOLD_MS;
};

/** @param {boolean} held */
const showHeld = (held) => {
  if (held) root.dataset.held = translate("held");
  else delete root.dataset.held;
};

export const flush = () => {
  cancelAnimationFrame(scheduled);
  scheduled = 0;
  if (!queue.length) return;
  const held = isHeld();
  showHeld(held);
  if (held) {
    scheduled = 1; // not an animation frame: nothing else may schedule
    setTimeout(flush, 250);
    return;
  }
  const frames = queue;
  queue = [];
  frames.forEach(applyFrame);
  emit("frame", { seq: frames.at(-1).s });
};

/** Drops what waits: another conversation is drawn. */
export const dropFrames = () => {
  queue = [];
};

/** @param {Frame} frame */
export const receive = (frame) => {
  if (!Array.isArray(frame?.o)) return;
  queue.push(frame);
  if (document.hidden) flush();
  else scheduled ||= requestAnimationFrame(flush);
};

document.addEventListener("visibilitychange", flush);

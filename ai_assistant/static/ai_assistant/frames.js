// Applies the server's frames: numbered lists of operations on elements by id.
// The only place that turns text into HTML.
import { byId, root, tell, tokenField, word } from "./root.js";
import { setServer, speak } from "./state.js";

const HOLD_MS = 5000;
const KEPT = "details[id], input[id], textarea[id], pre, .aia-diff";

const makePolicy = () => {
  const same = { createHTML: (html) => html, createScriptURL: (url) => url };
  try {
    return window.trustedTypes?.createPolicy("ai-assistant", same) ?? same;
  } catch {
    return same; // the site allows no policy of this name, or has it already
  }
};
export const policy = makePolicy();

const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(html);
  return template.content;
};

// Makes new elements work: forms get the token that only a page knows.
const dress = (element) => {
  if (!element.querySelector("form, [hx-get]")) return;
  const token = tokenField();
  for (const form of element.querySelectorAll("form"))
    if (token && !form.elements.csrfmiddlewaretoken) form.append(token.cloneNode());
  window.htmx?.process(element);
};

const fieldState = (field) => ({
  value: field.value,
  checked: field.checked,
  changed: field.value !== field.defaultValue || field.checked !== field.defaultChecked
});

const kept = (element) =>
  [element, ...element.querySelectorAll(KEPT)].filter((node) => node.matches(KEPT));

// What the person did to `element`: opened, typed, focused, scrolled.
const remember = (element) => {
  const states = kept(element).map((node) => ({
    id: node.id,
    tag: node.tagName,
    open: node.dataset.touched && node.open,
    left: node.scrollLeft,
    top: node.scrollTop,
    ...(node.matches("input, textarea") ? fieldState(node) : {})
  }));
  const active = document.activeElement;
  const focused = element.contains(active) ? active : null;
  return { states, focused, message: element.closest(".aia-msg")?.id };
};

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

const restoreFocus = ({ focused, message }) => {
  if (!focused || focused.isConnected) return;
  const summary = focused.matches("summary") && focused.parentElement.id;
  const fallback = message ? byId(message) : byId("aia-scroll");
  const heir = summary ? byId(summary)?.querySelector("summary") : null;
  const target = heir ?? ((focused.id && byId(focused.id)) || fallback);
  if (target === fallback && message) target?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
  if (target !== fallback && focused.matches("input:not([type=hidden]), textarea"))
    target?.setSelectionRange(focused.selectionStart, focused.selectionEnd);
};

const restore = (element, memory) => {
  const nodes = kept(element);
  memory.states.forEach((old, index) => {
    const same = old.id ? byId(old.id) : nodes[index];
    if (same?.tagName === old.tag) restoreNode(same, old);
  });
  restoreFocus(memory);
};

const swap = (old, fresh) => {
  const memory = remember(old);
  old.replaceWith(fresh);
  dress(fresh);
  restore(fresh, memory);
};

export const draw = (element, html) => {
  const memory = remember(element);
  element.replaceChildren(parse(html));
  dress(element);
  restore(element, memory);
};

// Parts of the panel that are there already, by their ids.
export const redraw = (html) => appendAll(byId("aia-inner"), html);

// The whole panel: another conversation, or the first one.
export const drawInner = (html) => {
  const fresh = parse(html).firstElementChild;
  byId("aia-inner")?.remove();
  root.prepend(fresh);
  dress(fresh);
};

const appendAll = (parent, html) => {
  for (const fresh of [...parse(html).children]) {
    const old = fresh.id && byId(fresh.id);
    if (old) swap(old, fresh);
    else {
      parent.append(fresh);
      dress(fresh);
    }
  }
};

const setAttribute = (element, name, value) => {
  if (!/^(data-|aria-|(hidden|disabled)$)/.test(name)) return;
  if (element === root && name === "data-state") setServer(value);
  else if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
};

const appendText = (element, text) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let last = null;
  while (walker.nextNode()) last = walker.currentNode;
  if (last) last.appendData(text);
  else element.append(text);
};

const onElement = {
  append: appendAll,
  replace: draw,
  outer: (element, html) => {
    const fresh = parse(html).firstElementChild;
    if (fresh) swap(element, fresh);
    else element.remove();
  },
  text: appendText,
  remove: (element) => element.remove(),
  attr: setAttribute
};

const apply = ([op, target, ...rest]) => {
  if (op === "say") return speak("say", target);
  if (op === "event") return tell(target, rest[0]);
  if (op === "accepted") return tell("accepted", target);
  const element = byId(target);
  if (element) onElement[op]?.(element, ...rest);
};

const isOld = (frame) =>
  frame.r && frame.r === root.dataset.run && frame.s < Number(root.dataset.seq);

const applyFrame = (frame) => {
  if (isOld(frame)) return;
  for (const operation of frame.o) {
    try {
      apply(operation);
    } catch (error) {
      console.error("aia", operation[0], error);
    }
  }
  if (!frame.r) return;
  root.dataset.run = frame.r;
  root.dataset.seq = frame.s;
  const stop = byId("aia-stop-form");
  if (stop) stop.elements.run.value = frame.r;
};

// --- the queue ---

let queue = [];
let scheduled = 0;
let heldSince = 0;

// A growing block is replaced, which would drop a selection inside it.
const isHeld = () => {
  const selection = getSelection();
  const blocks = "[aria-busy=true] .aia-body > .aia-b:last-child";
  const tail = !selection.isCollapsed && [...root.querySelectorAll(blocks)].at(-1);
  const inTail = tail && selection.containsNode(tail, true);
  if (!inTail) heldSince = 0;
  else heldSince ||= Date.now();
  return inTail && Date.now() - heldSince < HOLD_MS;
};

const showHeld = (held) => {
  if (held) root.dataset.held = word("held");
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
  tell("frame", { seq: frames.at(-1).s });
};

export const forget = () => {
  queue = [];
};

export const receive = (frame) => {
  if (!Array.isArray(frame?.o)) return;
  queue.push(frame);
  if (document.hidden) flush();
  else scheduled ||= requestAnimationFrame(flush);
};

document.addEventListener("visibilitychange", flush);

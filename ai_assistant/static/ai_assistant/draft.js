// The field of the composer, its draft, and the messages on their way. A text is never
// lost: it is in the field, in the draft or pending until the conversation shows it.

import { byId, cloneTemplate, root, translate } from "./root.js";
import { isRunning } from "./state.js";
import { readList, write } from "./storage.js";

// --- pending messages: kept in the tab until the page shows them ---

const KEY = "aia.pending";

/** @returns {PendingMessage[]} */
export const pendingMessages = () => readList("sessionStorage", KEY);

/** @param {PendingMessage[]} list */
const save = (list) =>
  write("sessionStorage", KEY, list.length ? JSON.stringify(list) : "");

/** @param {string} key */
export const removePending = (key) =>
  save(pendingMessages().filter((item) => item.key !== key));

/** @param {PendingMessage} item */
export const addPending = (item) => save([...pendingMessages(), item]);

/**
 * @param {string} key
 * @returns {NodeListOf<HTMLElement>}
 */
export const ghostsOf = (key) =>
  root.querySelectorAll(`.aia-ghost[data-key="${CSS.escape(key)}"]`);

/**
 * Shows the text of a message at once; the real message takes its place. While an
 * answer is under way that is in the queue, else in the conversation.
 *
 * @param {PendingMessage} item
 */
export const showGhost = (item) => {
  const waits = isRunning();
  const place = byId(waits ? "aia-queuing" : "aia-log");
  if (!place || item.conversation !== root.dataset.conversation) return;
  if (ghostsOf(item.key).length) return;
  const ghost = cloneTemplate(waits ? "aia-t-queuing" : "aia-t-sending");
  ghost.dataset.key = item.key;
  ghost.querySelector(".aia-text").textContent = item.text;
  place.append(ghost);
  if (!waits) byId("aia-empty")?.remove();
};

// --- the field ---

const GROWS = CSS.supports("field-sizing", "content");

export const field = () => byId("aia-input");
export const keyField = () => byId("aia-form").elements.key;

/** @param {string} conversation */
export const draftKeyOf = (conversation) =>
  `aia.draft.${root.dataset.user}.${conversation}`;

/** Tells whether the conversation has no message; until then it has no lasting id. */
export const isNew = () => !root.querySelector(".aia-msg");
export const draftKey = () => draftKeyOf(isNew() ? "new" : root.dataset.conversation);

/** @param {PendingMessage} item */
export const isCurrent = (item) => item.conversation === root.dataset.conversation;

const LARGE = 20_000; // characters: to guess a direction and a size takes minutes then

/**
 * Sets the direction before the text is in the field: afterwards is too late.
 *
 * @param {number} length
 */
const setDirection = (length) => {
  const input = field();
  input.dir = length > LARGE ? getComputedStyle(root).direction : "auto";
  input.toggleAttribute("data-large", length > LARGE);
};

const resize = () => {
  const input = field();
  setDirection(input.value.length);
  const max = Number(input.dataset.max);
  const left = max - input.value.length;
  const text = left < 0 ? translate("over", -left) : translate("left", left);
  byId("aia-count").textContent = left < max / 10 ? text : "";
  if (GROWS) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
};

/** @param {string} text */
export const setText = (text) => {
  if (!field()) return;
  setDirection(text.length);
  field().value = text;
  resize();
};

/** @type {number} */
let draftTimer;
export const saveDraft = () => {
  clearTimeout(draftTimer);
  if (!field() || root.sent) return;
  const { value } = field();
  // An empty field keeps the draft of what is still on its way.
  const draft = value.trim() ? value : pendingMessages().find(isCurrent)?.text;
  write("localStorage", draftKey(), draft);
};

// The browser's own way to insert a long text takes half a minute for two megabytes.
root.addEventListener(
  "beforeinput",
  /** @param {InputEvent & { target: HTMLTextAreaElement }} event */
  (event) => {
    const { target, data } = event;
    if (target.id !== "aia-input" || !(data?.length > LARGE)) return;
    event.preventDefault();
    setDirection(target.value.length + data.length);
    target.setRangeText(data, target.selectionStart, target.selectionEnd, "end");
    target.dispatchEvent(new Event("input", { bubbles: true }));
  }
);
root.addEventListener(
  "input",
  /** @param {ElementEvent} event */
  ({ target }) => {
    if (target.id !== "aia-input") return;
    resize();
    clearTimeout(draftTimer);
    draftTimer = setTimeout(saveDraft, 300);
  }
);
addEventListener("pagehide", saveDraft);

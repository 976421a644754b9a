// Messages on their way to the server, until it has them or gives them back.
// Loaded when a message is about to be written, or was left behind by another page.

import {
  draftKeyOf,
  field,
  ghostsOf,
  isCurrent,
  isNew,
  keyField,
  pendingMessages,
  removePending,
  saveDraft,
  setText,
  showGhost
} from "./draft.js";
import { post } from "./fetching.js";
import { parse } from "./frames.js";
import { byId, emit, isSignedOut, root, showNotice, translate } from "./root.js";
import { read, write } from "./storage.js";
import { endSession, requestUpdates } from "./ws.js";

const RETRY_MS = 3000;
const GHOST_MS = 15_000;
const MAX_AGE_MS = 10 * 60 * 1000;
const TRANSIENT = [502, 503, 504];

/** @param {PendingMessage} item */
export const isYoung = (item) => Date.now() - item.time < MAX_AGE_MS;

/** @param {string} key */
const isPending = (key) => pendingMessages().some((item) => item.key === key);

/** @param {string} key */
const isShown = (key) =>
  root.querySelector(`[data-key="${CSS.escape(key)}"]:not(.aia-ghost)`);

/**
 * @param {string} key
 * @param {"later" | "sent"} state
 */
const markGhost = (key, state) => {
  for (const ghost of ghostsOf(key)) ghost.dataset.send = state;
};

/** @param {string} key */
const remove = (key) => {
  removePending(key);
  for (const ghost of ghostsOf(key)) ghost.remove();
};

/** Returns the tools that the page offers now, as the form field of a message. */
const clientTools = () => {
  const tools = [...(root.tools ?? [])];
  const available = tools.filter(([, tool]) => tool.available?.() ?? true);
  return JSON.stringify(
    available.map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters
    }))
  );
};

/**
 * Puts back what could not be sent, before anything typed meanwhile.
 *
 * @param {PendingMessage} item
 */
const giveBack = (item) => {
  remove(item.key);
  if (!field() || !isCurrent(item)) {
    const key = draftKeyOf(item.conversation);
    if (!read("localStorage", key)) write("localStorage", key, item.text);
    return;
  }
  const typed = field().value.trim();
  setText(typed && typed !== item.text ? `${item.text}\n\n${typed}` : item.text);
  keyField().value = item.key; // had it arrived after all, it starts nothing twice
  saveDraft();
};

/** @param {PendingMessage} item */
const removeDraft = (item) => {
  for (const name of ["new", item.conversation])
    if (read("localStorage", draftKeyOf(name))?.trim() === item.text)
      write("localStorage", draftKeyOf(name), "");
};

/**
 * Forgets a message that the page shows.
 *
 * @param {string} key
 */
const onShown = (key) => {
  const item = pendingMessages().find((other) => other.key === key);
  remove(key);
  if (item) removeDraft(item);
};

/**
 * Shows why the server has refused a message.
 *
 * @param {Response} response
 */
export const showRefusal = async (response) => {
  const { ok, status } = response;
  const isExplained = ok || status === 429; // a limit, and when it is over
  const html = isExplained ? await response.text() : "";
  const part = parse(html);
  const form = part.getElementById("aia-arguments");
  if (form) (await import("./answered.js")).askArguments(form);
  else if (html.trim()) byId("aia-notice").replaceChildren(part);
  else showNotice(translate(status === 403 ? "stale" : "refused"));
  emit("error", { status, text: byId("aia-notice").textContent.trim() });
};

/** @param {number} ms */
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * @param {PendingMessage} item
 * @returns {Promise<Response | null>}
 */
const request = ({ time, isOld, ...values }) => {
  const fields = { ...values, tools: clientTools() };
  return post(byId("aia-form").action, fields).catch(() => /** @type {null} */ (null));
};

/**
 * Posts a message until the server has answered; null if its answer no longer matters.
 *
 * @param {PendingMessage} item
 * @returns {Promise<Response | null>}
 */
const postUntilAnswered = async (item, delay = RETRY_MS) => {
  const response = await request(item);
  if (!isPending(item.key)) return null;
  if (response && !TRANSIENT.includes(response.status)) return response;
  markGhost(item.key, "later");
  await sleep(delay);
  if (!isPending(item.key)) return null;
  if (isYoung(item)) return postUntilAnswered(item, Math.min(delay * 2, 30_000));
  giveBack(item);
  return null;
};

/** @param {PendingMessage} item */
const attempt = async (item) => {
  unposted.delete(item);
  const response = await postUntilAnswered(item);
  if (!response) return;
  requestUpdates();
  if (isSignedOut(response)) {
    giveBack(item);
    return endSession();
  }
  if (response.status === 202) {
    onShown(item.key); // a command has answered, and nothing was sent
    return (await import("./answered.js")).showAnswer(response);
  }
  if (response.status !== 204) {
    giveBack(item);
    return showRefusal(response);
  }
  removeDraft(item);
  markGhost(item.key, "sent");
  // The next page may have been drawn before it was stored: the item stays a while.
  setTimeout(onShown, GHOST_MS, item.key);
  // Sent on the page before this one, which was drawn without its conversation.
  if (item.isOld && !isCurrent(item) && isNew()) emit("elsewhere", item.conversation);
};

// One after another: they arrive in the order in which they were written.
/** @type {Promise<unknown>} */
let line = Promise.resolve();
/** @type {Set<PendingMessage>} */
const unposted = new Set();

/** @param {PendingMessage} item */
export const deliver = (item) => {
  byId("aia-arguments")?.replaceChildren();
  showGhost(item);
  // The button goes: who has pressed it goes on writing, but not under a keyboard
  // that comes onto the screen.
  if (byId("aia-send")?.matches(":focus") && matchMedia("(pointer: fine)").matches)
    field().focus();
  unposted.add(item);
  line = line.then(() => attempt(item)).catch(console.error);
};

// The next page sends them too; there may be none.
addEventListener("pagehide", () => unposted.forEach(request));

// --- after a page load, and on each frame ---

const onFrame = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const ghosts = root.querySelectorAll(".aia-ghost");
  for (const { dataset } of ghosts) if (isShown(dataset.key)) onShown(dataset.key);
};

/**
 * Sends once what an earlier page has left behind.
 *
 * @param {PendingMessage} item
 */
export const resume = (item) => {
  if (isShown(item.key)) onShown(item.key);
  else if (isYoung(item)) deliver({ ...item, isOld: true });
  else giveBack(item);
};

root.addEventListener("aia:frame", onFrame);
root.addEventListener("aia:accepted", ({ detail }) => onShown(detail));

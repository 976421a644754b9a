// Writing: keys, and the way of a text from the field to those who send it.

import { contextOf } from "./context.js";
import {
  addPending,
  draftKey,
  field,
  keyField,
  pendingMessages,
  saveDraft,
  setText,
  showGhost
} from "./draft.js";
import {
  byId,
  emit,
  isOpen,
  lazy,
  pagePath,
  root,
  showNotice,
  translate
} from "./root.js";
import { isRunning, isSessionOver } from "./state.js";
import { read } from "./storage.js";

const RETRY_MS = 3000;

/** Returns a UUID: admins on plain http have no randomUUID. */
const newKey = () => {
  const random = crypto.getRandomValues(new Uint8Array(36));
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit, place) =>
    (+digit ^ ((random[place] & 15) >> (+digit / 4))).toString(16)
  );
};

// --- sending ---

const sender = lazy(() => import("./sending.js"));
root.addEventListener(
  "focusin",
  /** @param {ElementEvent} event */
  ({ target }) => target === field() && sender()
);

/**
 * Shows the text in the conversation at once; it is kept, whatever can be loaded.
 *
 * @param {PendingMessage} item
 * @param {"deliver" | "resume"} how
 */
const handOver = async (item, how) => {
  showGhost(item);
  const module = await sender();
  if (module) module[how](item);
  else setTimeout(handOver, RETRY_MS, item, how);
};

/** @param {string} text */
const isTooLong = (text) => {
  const over = text.length - Number(field().dataset.max);
  if (over > 0) showNotice(translate("long", over));
  return over > 0;
};

const clearField = () => {
  keyField().value = newKey();
  showNotice("");
  setText("");
  saveDraft();
};

const OF_THE_PAGE = ["csrfmiddlewaretoken", "next"];

/**
 * Returns the fields of the form, those that a site has added too.
 *
 * @param {FormData} form
 * @returns {Record<string, string[]>}
 */
const fieldsOf = (form) =>
  Object.fromEntries(
    [...new Set(form.keys())]
      .filter((name) => !OF_THE_PAGE.includes(name))
      .map((name) => [name, form.getAll(name).map(String)])
  );

/** @param {FormData} form */
const take = (form) => {
  const text = field().value.trim();
  if (!text || isSessionOver() || isTooLong(text)) return;
  if (!emit("send", { text })) return;
  const { conversation } = root.dataset;
  const item = {
    ...fieldsOf(form),
    ...{ key: keyField().value, text, conversation, time: Date.now() },
    ...{ path: pagePath(), title: document.title, context: contextOf(text) }
  };
  addPending(item);
  clearField();
  if (!isRunning()) emit("follow");
  handOver(item, "deliver");
};

const submit = () => byId("aia-form").requestSubmit();

/**
 * Sends a text that was not typed; what was typed meanwhile stays.
 *
 * @param {string} text
 */
export const sendText = (text) => {
  const typed = field()?.value.trim();
  if (!field()) return;
  setText(text);
  submit();
  const refused = field().value.trim();
  if (typed) setText(refused ? `${typed}\n${refused}` : typed);
  saveDraft();
};

// --- after a page load ---

let resumed = false;

/** @param {PendingMessage[]} items */
const resume = async (items) => {
  for (const item of items) handOver(item, "resume");
  if (root.left) resume((await import("./unsent.js")).takeUnsent(newKey));
};

/** Restores the draft and what is pending in a conversation that has been drawn. */
export const prepareComposer = () => {
  if (!field()) return;
  const draft = read("localStorage", draftKey()) ?? "";
  const items = pendingMessages();
  const isPending = items.some((item) => item.text === draft.trim());
  if (!field().value && !isPending) setText(draft);
  // A page from the browser's store shows a key that has been used.
  keyField().value = newKey();
  if (resumed) items.forEach(showGhost);
  else resume(items);
  resumed = true;
};

// --- keys ---

const recall = lazy(() => import("./recall.js"));

/** @param {KeyboardEvent} event */
export const sends = (event) =>
  root.dataset.enter === "ctrl"
    ? event.ctrlKey || event.metaKey
    : !event.shiftKey && !event.altKey;

/** @param {ElementKeyEvent} event */
const onKeydown = (event) => {
  const { key, target } = event;
  if (target.id !== "aia-input") return;
  if (key === "Enter" && sends(event)) {
    event.preventDefault();
    submit();
  } else if (key === "Escape" && isRunning()) {
    event.preventDefault();
    byId("aia-stop-form").requestSubmit();
  } else if (/^Arrow(Up|Down)$/.test(key) && (!target.value || target.dataset.recalled))
    recall().then((module) => module?.step(event));
};

// What an input method does with a key is nobody's business here, in any field.
root.addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
  },
  true
);
root.addEventListener("keydown", onKeydown);
root.addEventListener(
  "submit",
  /** @param {ElementEvent} event */
  (event) => {
    if (event.target.id !== "aia-form" || event.defaultPrevented) return;
    event.preventDefault();
    take(new FormData(byId("aia-form"))); // htmx, which collects it, is still to come
  }
);
root.addEventListener("aia:collected", ({ detail }) => take(detail));

// --- asking about selected text ---

const quote = lazy(() => import("./quote.js"));
document.addEventListener("selectionchange", () => {
  if (isOpen() && !getSelection().isCollapsed) quote();
});

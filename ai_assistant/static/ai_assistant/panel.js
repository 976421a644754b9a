// The panel, loaded when it is open or about to open.

import { prepareComposer, sendText } from "./composer.js";
import { loadCollectors, onChipsDrawn } from "./context.js";
import { saveDraft } from "./draft.js";
import { dropFrames } from "./frame_queue.js";
import { request, startHtmx } from "./requests.js";
import {
  byId,
  emit,
  isOpen,
  isSignedOut,
  lazy,
  pagePath,
  root,
  showNotice
} from "./root.js";
import { observeScroll, scrollToEnd } from "./scroll.js";
import { isSessionOver, renderState, resetRunState } from "./state.js";
import { read, saveLayout } from "./storage.js";
import { restart, start, stop } from "./ws.js";

/** @type {Element | null} */
let opener = null;
const focusInput = () => byId("aia-input")?.focus();

// What a click brings is dressed before there is a click.
const loadMoreStyles = () => {
  const { more: href } = byId("aia-inner").dataset;
  if (byId("aia-more") || root.dataset.mode === "page") return;
  const nonce = byId("aia-boot")?.nonce ?? "";
  const values = { id: "aia-more", rel: "stylesheet", href, nonce };
  document.head.append(Object.assign(document.createElement("link"), values));
};

// --- drawing a conversation ---

const onDrawn = () => {
  const inner = byId("aia-inner");
  for (const name of ["conversation", "run", "seq"])
    root.dataset[name] = inner.dataset[name];
  loadMoreStyles();
  resetRunState(inner.dataset.state);
  observeScroll();
  startClock();
  onChipsDrawn();
  prepareComposer();
  if (byId("aia-history").firstElementChild) import("./history.js");
};

/** @param {string} text */
const showTrouble = (text) => {
  byId("aia-alert").textContent = text;
  root.dataset.trouble = text;
};

// The other conversation could not be had: this one goes on.
const stayHere = () => {
  showNotice(root.dataset.failed);
  if (isOpen()) restart();
};

/** @param {string} conversation empty for a new one */
const load = async (conversation) => {
  stop();
  dropFrames();
  const { title } = document;
  const { mode } = root.dataset;
  const values = { conversation, mode, path: pagePath(), title };
  const { isDrawn, response } = await request(root, values, saveDraft);
  if (response && isSignedOut(response.raw)) return location.reload();
  if (!isDrawn)
    return byId("aia-inner") ? stayHere() : showTrouble(root.dataset.failed);
  delete root.dataset.trouble;
  onDrawn();
  saveLayout();
  if (isOpen()) restart();
};

/** @type {Promise<void> | null} */
let firstLoad = null;
const loadOnce = () =>
  (firstLoad ??= load(root.dataset.conversation).finally(() => (firstLoad = null)));

// --- the public calls ---

export { startHtmx };

/** @param {unknown} [from] the element that opens it */
export const open = async (from) => {
  opener = from instanceof Element ? from : document.activeElement;
  if (!isOpen()) {
    root.dataset.open = "";
    renderState();
    saveLayout();
    startHtmx();
    if (byId("aia-inner")) start();
    else await loadOnce();
    scrollToEnd();
    emit("open");
  }
  focusInput();
};

// The launcher of a closed panel still says when the answer is there.
const stopUnlessBusy = () => {
  if (isOpen()) return;
  if (!("busy" in root.dataset)) stop();
  saveLayout();
};

export const close = () => {
  if (!isOpen()) return;
  delete root.dataset.open;
  renderState();
  stopUnlessBusy();
  const back = opener?.isConnected && opener.checkVisibility() ? opener : null;
  /** @type {HTMLElement} */ (back ?? byId("aia-launcher"))?.focus();
  emit("close");
};

/** Does what the shortcut is for: opens, goes into the composer, closes. */
export const toggle = () => {
  const isInside =
    root.contains(document.activeElement) && root.dataset.mode !== "page";
  return isOpen() && isInside ? close() : open();
};

/** @param {string} text */
export const send = async (text) => {
  // What goes with it is known then.
  const [unsent] = await Promise.all([import("./unsent.js"), open(), loadCollectors()]);
  if (text?.trim()) sendText(text.trim());
  unsent.removeUnsent({ text, path: root.path });
};

/**
 * Shows the plan of undoing what an answer has changed; tells whether there is one.
 *
 * @param {string} [run] the id of its run; without it the last one that can be undone
 */
export const undo = async (run = "") => {
  await Promise.all([open(), startHtmx()]);
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = root.querySelectorAll("a[data-aia-undo]");
  const link = [...links].findLast(({ href }) => href.endsWith(run));
  link?.click();
  return Boolean(link);
};

// --- buttons of the head ---

/**
 * Carries out `data-aia-use`: what few visits need stands in a module of its own.
 *
 * @param {HTMLElement} element
 */
const act = (element) =>
  import("./actions.js")
    .then((actions) => actions.load(element))
    .then(
      (module) => module.use(element),
      () => showNotice(root.dataset.failed)
    );

/** @param {ElementPointerEvent} event */
const onClick = (event) => {
  const { target } = event;
  /** @type {HTMLElement} */
  const action = target.closest("[data-aia-use]");
  if (action) {
    event.preventDefault();
    act(action);
  }
  if (target.closest("#aia-close")) close();
  const summary = target.closest("summary");
  if (summary) summary.parentElement.dataset.touched = "1";
  /** @type {HTMLElement} */
  const link = target.closest("[data-aia-conversation]");
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    load(link.dataset.aiaConversation).then(focusInput);
  }
};

root.addEventListener("click", onClick);
root.addEventListener("aia:elsewhere", ({ detail }) => load(detail));
root.addEventListener(
  "submit",
  /** @param {ElementEvent} event */
  (event) => {
    if (event.target.id !== "aia-new") return;
    event.preventDefault();
    load("").then(focusInput);
  }
);
// What was said about the last action is settled by the next one.
root.addEventListener("submit", () => isSessionOver() || showNotice(""), true);
// --- what few visits need ---

const palette = lazy(async () => (await import("./palette.js")).openPalette());
root.addEventListener(
  "input",
  /** @param {FieldEvent} event */
  ({ target }) => {
    if (target.id === "aia-input" && /[@/]/.test(target.value)) palette();
  }
);

const choices = lazy(() => import("./choices.js"));
root.addEventListener(
  "change",
  /** @param {FieldEvent} event */
  async (event) => (await choices())?.onChange(event)
);

const mover = lazy(() => import("./move.js"));
root.addEventListener(
  "pointerdown",
  /** @param {ElementPointerEvent} event */
  async (event) => {
    if (event.target.closest("[data-grip], .aia-head"))
      (await mover())?.startDrag(event);
  }
);

// A keyboard on the screen covers a part of it.
visualViewport.addEventListener(
  "resize",
  lazy(() => import("./sheet.js"))
);

const keys = lazy(() => import("./keys.js"));
/** @type {((event: KeyboardEvent) => void) | undefined} */
let onPanelKey;
document.addEventListener("keydown", async (event) => {
  if (!isOpen()) return;
  if (onPanelKey) return onPanelKey(event);
  if (event.key === "F6") event.preventDefault(); // the next ones are in time
  onPanelKey ??= (await keys())?.onKeydown;
  onPanelKey?.(event);
});

const startClock = lazy(() => import("./clock.js"));

const sync = lazy(() => import("./sync.js"));
/** @param {Event} event */
const onNews = async (event) => (await sync())?.onEvent(event);
for (const name of ["message-done", "unread"])
  root.addEventListener(`aia:${name}`, onNews);
addEventListener("storage", onNews);

const earlier = lazy(() => import("./earlier.js"));
const onScroll = async () =>
  root.querySelector(".aia-earlier") && (await earlier())?.watchTop();
root.addEventListener("scroll", onScroll, true);

const tools = lazy(() => import("./tools.js"));
root.addEventListener("aia:browser", async ({ detail }) =>
  (await tools())?.onCall(detail)
);
if (read("sessionStorage", "aia.going")) tools();

if (root.dataset.mode !== "page") import("./fold.js");
import("./links.js");
import("./fade.js");

// It stands in its place before it is seen.
if (root.dataset.mode === "float") await import("./place.js");
if (isOpen()) {
  startHtmx();
  onDrawn();
  saveLayout();
  start();
  if (/^#[ur]-/.test(location.hash)) earlier().then((module) => module?.jumpToHash());
} else if (root.left || root.dataset.busy) loadOnce().then(start); // a message waits to be sent again, or an answer goes on
root.addEventListener("aia:message-done", stopUnlessBusy);
delete byId("aia-launcher")?.dataset.trouble; // that it could not be loaded
emit("ready");

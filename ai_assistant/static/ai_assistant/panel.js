// The panel, loaded when it is open or about to open.
import { arrived, collecting } from "./context.js";
import { prepare, saveDraft, sendText } from "./composer.js";
import { drawInner, forget, policy } from "./frames.js";
import { saveLayout } from "./layout.js";
import { all } from "./pending.js";
import {
  ask,
  byId,
  isOpen,
  lazily,
  notice,
  pagePath,
  root,
  signedOut,
  tell,
} from "./root.js";
import { toEnd, watch } from "./scroll.js";
import { drawn, show, signedOutNow } from "./state.js";
import { read } from "./store.js";
import { restart, start, stop } from "./ws.js";

let opener = null;
const focusInput = () => byId("aia-input")?.focus();

// --- htmx: the page's own copy if it has one ---

const loadHtmx = () => {
  const { htmx, htmxSrc } = root.dataset;
  const present = window.htmx || document.querySelector('script[src*="htmx"]');
  if (htmx === "none" || (htmx === "auto" && present)) return;
  if (document.getElementById("aia-htmx")) return;
  const script = document.createElement("script");
  script.id = "aia-htmx";
  script.nonce = byId("aia-boot")?.nonce ?? "";
  script.src = policy.createScriptURL(htmxSrc);
  document.head.append(script);
};

// --- drawing a conversation ---

const COPIED = ["conversation", "run", "seq"];

const arrive = () => {
  const inner = byId("aia-inner");
  for (const name of COPIED) root.dataset[name] = inner.dataset[name];
  drawn(inner.dataset.state);
  watch();
  timed();
  arrived();
  prepare();
};

const say = (text) => {
  byId("aia-alert").textContent = text;
  root.dataset.trouble = text;
};

const fetchInner = async (conversation) => {
  const { title } = document;
  const response = await ask(root.dataset.page, { conversation, path: pagePath(), title });
  if (signedOut(response)) return location.reload();
  if (!response.ok) throw new Error(response.status);
  return response.text();
};

// The other conversation could not be had: this one goes on.
const stay = () => {
  notice(root.dataset.failed);
  if (isOpen()) restart();
};

export const load = async (conversation) => {
  stop();
  forget();
  let html;
  try {
    html = await fetchInner(conversation);
  } catch {
    return byId("aia-inner") ? stay() : say(root.dataset.failed);
  }
  if (!html) return;
  saveDraft();
  delete root.dataset.trouble;
  drawInner(html);
  arrive();
  saveLayout();
  if (isOpen()) restart();
};

let first = null;
const ensure = () =>
  (first ??= load(root.dataset.conversation).finally(() => (first = null)));

// --- the public calls ---

export const open = async (from) => {
  opener = from instanceof Element ? from : document.activeElement;
  if (!isOpen()) {
    root.dataset.open = "";
    show();
    saveLayout();
    loadHtmx();
    if (byId("aia-inner")) start();
    else await ensure();
    toEnd();
    tell("open");
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
  show();
  stopUnlessBusy();
  const back = opener?.isConnected && opener.checkVisibility() ? opener : null;
  (back ?? byId("aia-launcher"))?.focus();
  tell("close");
};

export const send = async (text) => {
  await Promise.all([open(), collecting()]); // what goes with it is known then
  if (text?.trim()) sendText(text.trim());
};

// --- buttons of the head ---

const showHistory = (visible) => {
  byId("aia-history").hidden = !visible;
  byId("aia-list").setAttribute("aria-expanded", visible);
};

// What few visits need stands in a module of its own, named by `data-aia-use`.
const use = (element) =>
  import(`./${element.dataset.aiaUse}.js`).then((module) => module.use(element));

const onClick = (event) => {
  const { target } = event;
  const wish = target.closest("[data-aia-use]");
  if (wish) {
    event.preventDefault();
    use(wish);
  }
  if (target.closest("#aia-close")) close();
  const summary = target.closest("summary");
  if (summary) summary.parentElement.dataset.touched = "1";
  if (target.closest("#aia-list") && window.htmx) {
    event.preventDefault();
    showHistory(byId("aia-history").hidden);
  }
  const item = target.closest("[data-aia-conversation]");
  if (item && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    load(item.dataset.aiaConversation).then(focusInput);
  }
};

root.addEventListener("click", onClick);
root.addEventListener("aia:elsewhere", ({ detail }) => load(detail));
root.addEventListener("submit", (event) => {
  if (event.target.id !== "aia-new") return;
  event.preventDefault();
  load("").then(focusInput);
});
// What was said about the last action is settled by the next one.
root.addEventListener("submit", () => signedOutNow() || notice(""), true);
// A limit says when it is over, with a status that htmx alone would not draw.
root.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status !== 429) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
root.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || byId("aia-history")?.hidden !== false) return;
  showHistory(false);
  byId("aia-list").focus();
});

// --- what few visits need ---

const menu = lazily(async () => (await import("./mention.js")).openMenu());
root.addEventListener("input", ({ target }) => {
  if (target.id === "aia-input" && target.value.includes("@")) menu();
});

root.addEventListener("change", lazily(() => import("./choices.js")));

const clock = lazily(() => import("./clock.js"));
const timed = () => root.dataset.busy && clock();
root.addEventListener("aia:frame", timed);

const tools = lazily(() => import("./tools.js"));
root.addEventListener("aia:browser", async ({ detail }) => (await tools())?.take(detail));
if (read("sessionStorage", "aia.going")) tools();

if (isOpen()) {
  loadHtmx();
  arrive();
  saveLayout();
  start();
} else if (all().length) ensure(); // a message waits to be sent again
root.addEventListener("aia:message-done", stopUnlessBusy);
tell("ready");

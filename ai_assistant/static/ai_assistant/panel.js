// The panel, loaded when it is open or about to open.

import { prepare, sendText } from "./composer.js";
import { arrived, collecting } from "./context.js";
import { saveDraft } from "./field.js";
import { drawInner, forget, policy } from "./frames.js";
import { saveLayout } from "./layout.js";
import {
  ask,
  byId,
  isOpen,
  lazily,
  notice,
  pagePath,
  root,
  signedOut,
  tell
} from "./root.js";
import { toEnd, watch } from "./scroll.js";
import { drawn, show, signedOutNow } from "./state.js";
import { read } from "./store.js";
import { restart, start, stop } from "./ws.js";

let opener = null;
const focusInput = () => byId("aia-input")?.focus();

// --- htmx: the page's own copy if it has one ---

const addToHead = (tag, values) => {
  const nonce = byId("aia-boot")?.nonce ?? "";
  document.head.append(
    Object.assign(document.createElement(tag), { nonce, ...values })
  );
};

const loadHtmx = () => {
  const { htmx, htmxSrc } = root.dataset;
  const present = window.htmx || document.querySelector('script[src*="htmx"]');
  if (htmx === "none" || (htmx === "auto" && present)) return;
  if (document.getElementById("aia-htmx")) return;
  addToHead("script", { id: "aia-htmx", src: policy.createScriptURL(htmxSrc) });
};

// What a click brings is dressed before there is a click.
const loadMore = () => {
  const { more: href } = byId("aia-inner").dataset;
  if (byId("aia-more") || root.dataset.mode === "page") return;
  addToHead("link", { id: "aia-more", rel: "stylesheet", href });
};

// --- drawing a conversation ---

const arrive = () => {
  const inner = byId("aia-inner");
  for (const name of ["conversation", "run", "seq"])
    root.dataset[name] = inner.dataset[name];
  loadMore();
  drawn(inner.dataset.state);
  watch();
  timed();
  arrived();
  prepare();
  if (byId("aia-history").firstElementChild) import("./history.js");
};

const say = (text) => {
  byId("aia-alert").textContent = text;
  root.dataset.trouble = text;
};

const fetchInner = async (conversation) => {
  const { title } = document;
  const { mode } = root.dataset;
  const values = { conversation, mode, path: pagePath(), title };
  const response = await ask(root.dataset.page, values);
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

// What the shortcut does: open, into the composer, close.
export const toggle = () => {
  const isInside =
    root.contains(document.activeElement) && root.dataset.mode !== "page";
  return isOpen() && isInside ? close() : open();
};

export const send = async (text) => {
  // What goes with it is known then.
  const [said] = await Promise.all([import("./said.js"), open(), collecting()]);
  if (text?.trim()) sendText(text.trim());
  said.taken({ text, path: root.path });
};

// --- buttons of the head ---

// What few visits need stands in a module of its own, named by `data-aia-use`.
const use = (element) =>
  import("./uses.js")
    .then((uses) => uses.find(element))
    .then(
      (module) => module.use(element),
      () => notice(root.dataset.failed)
    );

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

// --- what few visits need ---

const menu = lazily(async () => (await import("./mention.js")).openMenu());
root.addEventListener("input", ({ target }) => {
  if (target.id === "aia-input" && target.value.includes("@")) menu();
});

root.addEventListener(
  "change",
  lazily(() => import("./choices.js"))
);

const moving = lazily(() => import("./move.js"));
root.addEventListener("pointerdown", async (event) => {
  if (event.target.closest("[data-grip], .aia-head")) (await moving())?.grab(event);
});

// A keyboard on the screen covers a part of it.
visualViewport.addEventListener(
  "resize",
  lazily(() => import("./sheet.js"))
);

const keys = lazily(() => import("./keys.js"));
let press;
document.addEventListener("keydown", async (event) => {
  if (!isOpen()) return;
  if (press) return press(event);
  if (event.key === "F6") event.preventDefault(); // the next ones are in time
  press ??= (await keys())?.press;
  press?.(event);
});

const clock = lazily(() => import("./clock.js"));
const timed = () => root.dataset.busy && clock();
root.addEventListener("aia:frame", timed);

const sync = lazily(() => import("./sync.js"));
const onNews = async (event) => (await sync())?.take(event);
for (const name of ["message-done", "unread"])
  root.addEventListener(`aia:${name}`, onNews);
addEventListener("storage", onNews);

const earlier = lazily(() => import("./earlier.js"));
const onScroll = async () =>
  root.querySelector(".aia-earlier") && (await earlier())?.watch();
root.addEventListener("scroll", onScroll, true);

const tools = lazily(() => import("./tools.js"));
root.addEventListener("aia:browser", async ({ detail }) =>
  (await tools())?.take(detail)
);
if (read("sessionStorage", "aia.going")) tools();

// It stands in its place before it is seen.
if (root.dataset.mode === "float") await import("./place.js");
if (isOpen()) {
  loadHtmx();
  arrive();
  saveLayout();
  start();
  if (/^#[ur]-/.test(location.hash)) import("./jump.js");
} else if (root.left) ensure(); // a message waits to be sent again
root.addEventListener("aia:message-done", stopUnlessBusy);
delete byId("aia-launcher")?.dataset.trouble; // that it could not be loaded
tell("ready");

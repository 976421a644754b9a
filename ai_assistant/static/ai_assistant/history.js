// The list of conversations: shown and hidden, its keys, and where a hit leads.
import { draw } from "./frames.js";
import { isOn } from "./notify.js";
import { ask, byId, root, tell } from "./root.js";
import { speak } from "./state.js";
import { onTabs, tellTabs } from "./sync.js";

const box = () => byId("aia-history");
const inside = (element) => box()?.contains(element);
const isPage = () => root.dataset.mode === "page";

const show = (visible) => {
  box().hidden = !visible;
  byId("aia-list").setAttribute("aria-expanded", visible);
};

export const use = (button) => {
  if (!window.htmx) return location.assign(button.href);
  show(box().hidden);
};

// --- what the person has done, until the list shows it ---

const seen = new WeakSet();
let asked = null; // {does, conversation}: sent, and not yet drawn
let renaming = ""; // the entry that is being renamed
let hit = null; // {id, run}: to be shown once its conversation is there
let kept = null; // the list, while the conversation under it goes

// Each new element of the list is looked at once.
const fresh = (id) => {
  const element = byId(id);
  if (!element || seen.has(element)) return null;
  seen.add(element);
  return element;
};

const markCurrent = () => {
  for (const link of box().querySelectorAll("[data-aia-conversation]")) {
    const isCurrent = link.dataset.aiaConversation === root.dataset.conversation;
    if (isCurrent) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};

const startRenaming = (field) => {
  renaming = field.closest("li").id;
  field.focus();
  field.select();
};

const endRenaming = () => {
  byId(renaming)?.querySelector("a")?.focus();
  renaming = "";
};

// The conversation under the list is gone: another takes its place, the list stays.
const leave = () => {
  kept = box();
  tell("elsewhere", "");
};

const settleAsked = () => {
  const { does, conversation } = asked;
  asked = null;
  tellTabs({ list: true });
  if (does === "delete" && conversation === root.dataset.conversation) leave();
};

const settle = () => {
  const field = fresh("aia-name");
  if (field) startRenaming(field);
  else if (renaming && !byId("aia-name")) endRenaming();
  const undo = fresh("aia-undo");
  if (undo) {
    undo.focus();
    speak("say", undo.closest(".aia-toast").textContent.trim());
  }
  const bell = fresh("aia-notify");
  if (bell) {
    bell.hidden = !window.Notification;
    bell.setAttribute("aria-pressed", isOn());
  }
  markCurrent();
  if (asked && !field) settleAsked();
};

const putBack = () => {
  byId("aia-history").replaceWith(kept);
  kept = null;
  show(true);
  byId("aia-undo")?.focus();
};

const goToHit = async () => {
  const { id, run } = hit;
  hit = null;
  const { jump } = await import("./jump.js");
  // After the panel has put the focus where it is when nothing was looked for.
  requestAnimationFrame(() => jump(id, run));
};

const watcher = new MutationObserver(() => {
  watch();
  if (!box()) return;
  settle();
});

let watched = null;
const watch = () => {
  if (watched === box()) return;
  watched = box();
  if (!watched) return;
  watcher.observe(watched, { childList: true, subtree: true });
  if (hit) goToHit();
  if (kept && kept !== watched) putBack();
};

watcher.observe(root, { childList: true });
watch();
if (box()?.firstElementChild) settle();

// --- keys ---

const stopRenaming = async () => {
  renaming = "";
  await refresh();
};

const onEscape = (event) => {
  if (inside(event.target) && byId("aia-name")) return stopRenaming();
  if (isPage() || box()?.hidden !== false) return;
  show(false);
  byId("aia-list").focus();
};

const onKey = (event) => {
  if (event.key === "Escape") onEscape(event);
  const entry =
    event.key === "F2" && inside(event.target) && event.target.closest("li");
  if (!entry) return;
  event.preventDefault();
  entry.querySelector("[data-aia-rename]")?.click();
};

root.addEventListener("keydown", onKey, true);
root.addEventListener(
  "submit",
  ({ target, submitter }) => {
    if (!inside(target) || target.method !== "post") return;
    const { conversation } = target.elements;
    asked = { does: submitter?.value, conversation: conversation?.value };
  },
  true
);
root.addEventListener(
  "click",
  ({ target }) => {
    const link = target.closest("#aia-history a[data-aia-conversation][href*='#']");
    if (!link) return;
    const { hash, searchParams } = new URL(link.href);
    hit = { id: hash.slice(1), run: searchParams.get("at") };
  },
  true
);

// --- in step with the server and the other tabs ---

const isBusy = () =>
  byId("aia-q")?.value ||
  byId("aia-name") ||
  box().querySelector("details[open], .aia-toast");

const refresh = async () => {
  const response = await ask(byId("aia-list").href);
  if (response.ok) draw(box(), await response.text());
};

const refreshIfSeen = () => {
  if (box() && (isPage() || !box().hidden) && !isBusy()) refresh();
};

onTabs(({ list }) => list && refreshIfSeen());
root.addEventListener("aia:message-done", refreshIfSeen);
root.addEventListener("aia:accepted", refreshIfSeen);

// Writing: keys, and the way of a text from the field to those who send it.
import { kept } from "./context.js";
import { draftKey, field, fill, keyField, saveDraft } from "./field.js";
import * as pending from "./pending.js";
import { byId, isOpen, lazily, notice, pagePath, root, tell, word } from "./root.js";
import { running, signedOutNow } from "./state.js";
import { read } from "./store.js";

const RETRY_MS = 3000;

// Admins on plain http have no randomUUID.
const newKey = () => {
  const random = crypto.getRandomValues(new Uint8Array(36));
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit, place) =>
    (digit ^ ((random[place] & 15) >> (digit / 4))).toString(16)
  );
};

// --- sending ---

const sending = lazily(() => import("./sending.js"));
root.addEventListener("focusin", ({ target }) => target === field() && sending());

// The text stands in the conversation at once, and is kept, whatever can be loaded.
const handOver = async (item, how) => {
  pending.showGhost(item);
  const way = await sending();
  if (way) way[how](item);
  else setTimeout(handOver, RETRY_MS, item, how);
};

const tooLong = (text) => {
  const over = text.length - Number(field().dataset.max);
  if (over > 0) notice(word("long", over));
  return over > 0;
};

const settled = () => {
  keyField().value = newKey();
  notice("");
  fill("");
  saveDraft();
};

export const submit = () => {
  const text = field().value.trim();
  if (!text || signedOutNow() || tooLong(text)) return;
  if (!tell("send", { text })) return;
  const { conversation } = root.dataset;
  const item = {
    ...{ key: keyField().value, text, conversation, time: Date.now() },
    ...{ path: pagePath(), title: document.title, context: kept(text) },
    look_only: byId("aia-look").value,
    profile: byId("aia-profile")?.value ?? ""
  };
  pending.add(item);
  settled();
  if (!running()) tell("follow");
  handOver(item, "deliver");
};

export const sendText = (text) => {
  const typed = field()?.value.trim();
  if (!field()) return;
  fill(text);
  submit();
  const refused = field().value.trim();
  if (typed) fill(refused ? `${typed}\n${refused}` : typed);
  saveDraft();
};

// --- a limit, and when it is over ---

const limits = lazily(() => import("./limit.js"));
const limited = () => root.querySelector(".aia-left[data-left]") && limits();
for (const name of ["aia:frame", "aia:error", "htmx:afterSwap", "htmx:after:swap"])
  root.addEventListener(name, limited);

// --- after a page load ---

let resumed = false;

const resume = async (left) => {
  for (const item of left) handOver(item, "resume");
  if (root.left) resume((await import("./said.js")).overtake(newKey));
};

// Called for each conversation that is drawn.
export const prepare = () => {
  if (!field()) return;
  const draft = read("localStorage", draftKey()) ?? "";
  const left = pending.all();
  const onItsWay = left.some((item) => item.text === draft.trim());
  if (!field().value && !onItsWay) fill(draft);
  // A page from the browser's store shows a key that has been used.
  keyField().value = newKey();
  if (resumed) left.forEach(pending.showGhost);
  else resume(left);
  resumed = true;
  limited();
};

// --- keys ---

const recall = lazily(() => import("./recall.js"));

const sends = (event) =>
  root.dataset.enter === "ctrl"
    ? event.ctrlKey || event.metaKey
    : !event.shiftKey && !event.altKey;

const onKey = (event) => {
  const { key, target } = event;
  if (target.id !== "aia-input") return;
  if (key === "Enter" && sends(event)) {
    event.preventDefault();
    submit();
  } else if (key === "Escape" && running()) {
    event.preventDefault();
    byId("aia-stop-form").requestSubmit();
  } else if (/^Arrow(Up|Down)$/.test(key) && (!target.value || target.dataset.recalled))
    recall().then((way) => way?.step(event));
};

// What an input method does with a key is nobody's business here, in any field.
root.addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
  },
  true
);
root.addEventListener("keydown", onKey);
root.addEventListener("submit", (event) => {
  if (event.target.id !== "aia-form") return;
  event.preventDefault();
  submit();
});

// --- asking about selected text ---

const quote = lazily(() => import("./quote.js"));
document.addEventListener("selectionchange", () => {
  if (isOpen() && !getSelection().isCollapsed) quote();
});
document.addEventListener("keydown", async (event) => {
  if (!event.altKey || event.code !== "KeyQ" || !isOpen()) return;
  event.preventDefault();
  (await quote())?.use();
});

// Writing and sending. A text is never lost: it is in the field, in the draft or
// among the pending ones until the conversation shows it.
import { kept } from "./context.js";
import { draw } from "./frames.js";
import * as pending from "./pending.js";
import { byId, notice, pagePath, post, root, signedOut, tell, word } from "./root.js";
import { running, signedOutNow } from "./state.js";
import { read, write } from "./store.js";
import { endSession } from "./ws.js";

const RETRY_MS = 3000;
const GHOST_MS = 15_000;
const TRANSIENT = [502, 503, 504];
const GROWS = CSS.supports("field-sizing", "content");

const field = () => byId("aia-input");
const keyField = () => byId("aia-form").elements.key;
const draftOf = (name) => `aia.draft.${root.dataset.user}.${name}`;
// Until its first message a conversation has no lasting name.
const isNew = () => !root.querySelector(".aia-msg");
const draftKey = () => draftOf(isNew() ? "new" : root.dataset.conversation);

// Admins on plain http have no randomUUID.
const newKey = () => {
  const random = crypto.getRandomValues(new Uint8Array(36));
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit, place) =>
    (digit ^ ((random[place] & 15) >> (digit / 4))).toString(16),
  );
};

// --- the field ---

const grow = () => {
  const input = field();
  const left = Number(input.dataset.max) - input.value.length;
  const near = left < input.dataset.max / 10;
  byId("aia-count").textContent = near ? word("left", left) : "";
  if (GROWS) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
};

const isHere = (item) => item.conversation === root.dataset.conversation;

// An empty field keeps the draft of what is still on its way.
const sendingText = () => pending.all().find(isHere)?.text;

let draftTimer;
export const saveDraft = () => {
  clearTimeout(draftTimer);
  if (!field() || root.sent) return;
  const { value } = field();
  write("localStorage", draftKey(), value.trim() ? value : sendingText());
};

const onInput = () => {
  grow();
  clearTimeout(draftTimer);
  draftTimer = setTimeout(saveDraft, 300);
};

const fill = (text) => {
  if (!field()) return;
  field().value = text;
  grow();
};

// Put back what could not be sent, before anything typed meanwhile.
const giveBack = (item) => {
  pending.remove(item.key);
  pending.removeGhost(item.key);
  if (!field() || !isHere(item)) {
    const key = draftOf(item.conversation);
    if (!read("localStorage", key)) write("localStorage", key, item.text);
    return;
  }
  const typed = field().value.trim();
  fill(typed && typed !== item.text ? `${item.text}\n\n${typed}` : item.text);
  keyField().value = item.key; // had it arrived after all, it starts nothing twice
  saveDraft();
};

// --- sending ---

const forgetDraft = (item) => {
  for (const name of ["new", item.conversation])
    if (read("localStorage", draftOf(name))?.trim() === item.text)
      write("localStorage", draftOf(name), "");
};

const shown = (key) => {
  const item = pending.all().find((other) => other.key === key);
  pending.remove(key);
  pending.removeGhost(key);
  if (item) forgetDraft(item);
};

// What a message tells the server of the page's own tools.
const clientTools = () => {
  const open = [...(root.tools ?? [])].filter(([, tool]) => tool.available?.() ?? true);
  return JSON.stringify(
    open.map(([name, { description, parameters }]) => ({ name, description, parameters })),
  );
};

const refused = async (item, response) => {
  giveBack(item);
  tell("error", { status: response.status });
  if (response.status === 403) return notice(word("stale"));
  const says = response.ok || response.status === 429; // a limit, and when it is over
  const html = says ? await response.text() : "";
  if (html.trim()) draw(byId("aia-notice"), html);
  else notice(word("refused"));
};

const tryLater = (item, delay) => {
  pending.markGhost(item.key, "later");
  setTimeout(() => {
    if (!pending.isPending(item.key)) return;
    if (!pending.isYoung(item)) return giveBack(item);
    deliver(item, Math.min(delay * 2, 30_000));
  }, delay);
};

const deliver = async (item, delay = RETRY_MS) => {
  pending.showGhost(item);
  const { time, isOld, ...values } = item;
  let response;
  try {
    response = await post(byId("aia-form").action, values);
  } catch {
    return tryLater(item, delay);
  }
  if (!pending.isPending(item.key)) return;
  if (TRANSIENT.includes(response.status)) return tryLater(item, delay);
  if (signedOut(response)) {
    giveBack(item);
    return endSession();
  }
  if (response.status !== 204) return refused(item, response);
  forgetDraft(item);
  pending.markGhost(item.key, "sent");
  // The next page may have been drawn before it was stored: the item stays a while.
  setTimeout(shown, GHOST_MS, item.key);
  // Sent on the page before this one, which was drawn without its conversation.
  if (isOld && !isHere(item) && isNew()) tell("elsewhere", item.conversation);
};

const tooLong = (text) => {
  const over = text.length - Number(field().dataset.max);
  if (over > 0) notice(word("long", over));
  return over > 0;
};

export const submit = () => {
  const text = field().value.trim();
  if (!text || signedOutNow() || tooLong(text)) return;
  if (running()) return notice(word("wait"));
  if (!tell("send", { text })) return;
  const { conversation } = root.dataset;
  const item = {
    ...{ key: keyField().value, text, conversation, time: Date.now() },
    ...{ path: pagePath(), title: document.title, context: kept(text) },
    tools: clientTools(),
    look_only: byId("aia-look").value,
  };
  pending.add(item);
  saveDraft();
  keyField().value = newKey();
  notice("");
  fill("");
  tell("follow");
  deliver(item);
};

export const sendText = (text) => {
  const typed = field()?.value.trim();
  if (!field()) return;
  if (running()) {
    fill(typed ? `${typed}\n${text}` : text);
    saveDraft();
    return notice(word("wait"));
  }
  fill(text);
  submit();
  if (typed) fill(typed);
  saveDraft();
};

// --- after a page load, and on each frame ---

const settle = () => {
  for (const ghost of root.querySelectorAll(".aia-ghost"))
    if (pending.isShown(ghost.dataset.key)) shown(ghost.dataset.key);
};

const resume = (item) => {
  if (pending.isShown(item.key)) shown(item.key);
  else if (pending.isYoung(item)) deliver({ ...item, isOld: true });
  else giveBack(item);
};

let resumed = false;

// Called for each conversation that is drawn; what an earlier page left behind
// is sent once.
export const prepare = () => {
  if (!field()) return;
  const draft = read("localStorage", draftKey()) ?? "";
  const onItsWay = pending.all().some((item) => item.text === draft.trim());
  if (!field().value && !onItsWay) fill(draft);
  // A page from the browser's store shows a key that has been used.
  keyField().value = newKey();
  if (resumed) pending.all().forEach(pending.showGhost);
  else pending.all().forEach(resume);
  resumed = true;
};

// --- keys ---

const isComposing = (event) => event.isComposing || event.keyCode === 229;

const onKey = (event) => {
  if (event.target.id !== "aia-input" || isComposing(event)) return;
  if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    submit();
  } else if (event.key === "Escape" && running()) {
    event.preventDefault();
    byId("aia-stop-form").requestSubmit();
  }
};

root.addEventListener("keydown", onKey);
root.addEventListener("input", (event) => event.target.id === "aia-input" && onInput());
root.addEventListener("submit", (event) => {
  if (event.target.id !== "aia-form") return;
  event.preventDefault();
  submit();
});
root.addEventListener("aia:frame", settle);
root.addEventListener("aia:accepted", ({ detail }) => shown(detail));
addEventListener("pagehide", saveDraft);

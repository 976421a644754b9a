// Messages on their way to the server, until it has them or gives them back.
// Loaded when a message is about to be written, or was left behind by another page.
import { draftOf, field, fill, isHere, isNew, keyField, saveDraft } from "./field.js";
import { draw } from "./frames.js";
import { all, drop, ghosts, showGhost } from "./pending.js";
import { byId, notice, post, root, signedOut, tell, word } from "./root.js";
import { read, write } from "./store.js";
import { endSession, look } from "./ws.js";

const RETRY_MS = 3000;
const GHOST_MS = 15_000;
const MAX_AGE_MS = 10 * 60 * 1000;
const TRANSIENT = [502, 503, 504];

export const isYoung = (item) => Date.now() - item.time < MAX_AGE_MS;
const isPending = (key) => all().some((item) => item.key === key);
const isShown = (key) =>
  root.querySelector(`[data-key="${CSS.escape(key)}"]:not(.aia-ghost)`);

const markGhost = (key, state) => {
  for (const ghost of ghosts(key)) ghost.dataset.send = state;
};

const remove = (key) => {
  drop(key);
  for (const ghost of ghosts(key)) ghost.remove();
};

// What a message tells the server of the tools of the page that it is sent from.
const clientTools = () => {
  const open = [...(root.tools ?? [])].filter(([, tool]) => tool.available?.() ?? true);
  return JSON.stringify(
    open.map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters
    }))
  );
};

// Put back what could not be sent, before anything typed meanwhile.
const giveBack = (item) => {
  remove(item.key);
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

const forgetDraft = (item) => {
  for (const name of ["new", item.conversation])
    if (read("localStorage", draftOf(name))?.trim() === item.text)
      write("localStorage", draftOf(name), "");
};

const shown = (key) => {
  const item = all().find((other) => other.key === key);
  remove(key);
  if (item) forgetDraft(item);
};

export const explain = async (response) => {
  const { ok, status } = response;
  const says = ok || status === 429; // a limit, and when it is over
  const html = says ? await response.text() : "";
  if (html.trim()) draw(byId("aia-notice"), html);
  else notice(word(status === 403 ? "stale" : "refused"));
  tell("error", { status, text: byId("aia-notice").textContent.trim() });
};

const rest = (delay) => new Promise((done) => setTimeout(done, delay));

const request = ({ time, isOld, ...values }) =>
  post(byId("aia-form").action, { ...values, tools: clientTools() }).catch(() => null);

// Until the server has answered; null if it no longer matters what it says.
const answered = async (item, delay = RETRY_MS) => {
  const response = await request(item);
  if (!isPending(item.key)) return null;
  if (response && !TRANSIENT.includes(response.status)) return response;
  markGhost(item.key, "later");
  await rest(delay);
  if (!isPending(item.key)) return null;
  if (isYoung(item)) return answered(item, Math.min(delay * 2, 30_000));
  giveBack(item);
  return null;
};

const attempt = async (item) => {
  waiting.delete(item);
  const response = await answered(item);
  if (!response) return;
  look();
  if (signedOut(response)) {
    giveBack(item);
    return endSession();
  }
  if (response.status !== 204) {
    giveBack(item);
    return explain(response);
  }
  forgetDraft(item);
  markGhost(item.key, "sent");
  // The next page may have been drawn before it was stored: the item stays a while.
  setTimeout(shown, GHOST_MS, item.key);
  // Sent on the page before this one, which was drawn without its conversation.
  if (item.isOld && !isHere(item) && isNew()) tell("elsewhere", item.conversation);
};

// One after another: they arrive in the order in which they were written.
let line = Promise.resolve();
const waiting = new Set();

export const deliver = (item) => {
  showGhost(item);
  waiting.add(item);
  line = line.then(() => attempt(item)).catch(console.error);
};

// The next page sends them too; there may be none.
addEventListener("pagehide", () => waiting.forEach(request));

// --- after a page load, and on each frame ---

const settle = () => {
  for (const ghost of root.querySelectorAll(".aia-ghost"))
    if (isShown(ghost.dataset.key)) shown(ghost.dataset.key);
};

// What an earlier page left behind is sent once.
export const resume = (item) => {
  if (isShown(item.key)) shown(item.key);
  else if (isYoung(item)) deliver({ ...item, isOld: true });
  else giveBack(item);
};

root.addEventListener("aia:frame", settle);
root.addEventListener("aia:accepted", ({ detail }) => shown(detail));

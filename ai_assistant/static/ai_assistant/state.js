// data-state: what the server says of the run, what the connection adds to it.
import { alertNow, say } from "./announce.js";
import { isOpen, root, tell, word } from "./root.js";

const RUNNING = ["thinking", "streaming", "tool", "stopping"];
const SHORT_ANSWER = 400;
let server = isOpen() ? root.dataset.state : "idle";
let override = "";

export const since = { state: Date.now() };

const waiting = (name) => name.startsWith("waiting");
export const running = () => RUNNING.includes(server);
export const signedOutNow = () => override === "signed-out";

export const show = () => {
  root.dataset.state = isOpen() ? override || server : "closed";
  const busy = running() ? "run" : waiting(server) ? "wait" : "";
  if (busy) root.dataset.busy = busy;
  else delete root.dataset.busy;
};

const lastAnswer = () =>
  [...root.querySelectorAll(".aia-msg[data-role=assistant]")].at(-1);

const ending = () => {
  const answer = lastAnswer();
  const bodies = [...(answer?.querySelectorAll(".aia-body") ?? [])];
  const text = bodies.map((body) => body.innerText).join(" ").trim();
  if (text && text.length <= SHORT_ANSWER) return text;
  const tools = answer?.querySelectorAll(".aia-tool").length;
  const blocks = answer?.querySelectorAll(".aia-body > .aia-b").length ?? 0;
  return word("ready", blocks) + (tools ? ` ${word("used", tools)}` : "");
};

// What has changed since the last announcement: several frames may come at once.
let news = null;

const announce = () => {
  const { before, isAsked } = news;
  news = null;
  const wasRunning = RUNNING.includes(before) || waiting(before);
  // A quick answer is complete before its run was ever seen at work.
  const was = wasRunning || isAsked;
  if (running() && !wasRunning) say(word("answering"));
  if (server === "idle" && was) say(ending());
  if (server === "stopped") say(word("stopped"));
  if (server === "waiting-answer") say(word("question"));
  if (server === "waiting-approval") alertNow(word("approval"));
  if (server === "error" || server === "limited")
    alertNow(lastAnswer()?.querySelector(".aia-error")?.textContent ?? "");
  if (!was || running() || waiting(server)) return;
  tell("message-done", { state: server });
};

let asked = false;
root.addEventListener("aia:accepted", () => {
  asked = true;
});

export const setServer = (name) => {
  if (name === server && !asked) return;
  // After the whole frame: the sentence to say may come with it.
  if (!news) queueMicrotask(announce);
  news ??= { before: server, isAsked: false };
  news.isAsked ||= asked;
  asked = false;
  if (name !== server) since.state = Date.now();
  server = name;
  show();
};

// A conversation drawn anew is no news.
export const drawn = (name) => {
  server = name;
  since.state = Date.now();
  show();
};

export const setOverride = (name) => {
  if (name === override) return;
  override = name;
  show();
  tell("conn", { state: name || "online" });
};

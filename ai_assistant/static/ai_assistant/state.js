// data-state: what the server says of the run, what the connection adds to it.
import { isOpen, lazily, root, tell } from "./root.js";

const RUNNING = ["thinking", "streaming", "tool", "stopping"];
let server = isOpen() ? root.dataset.state : "idle";
let override = "";

export const since = { state: Date.now() };

const isRunning = (name) => RUNNING.includes(name);
const busyOf = (name) =>
  isRunning(name) ? "run" : name.startsWith("waiting") ? "wait" : "";
export const running = () => isRunning(server);
export const serverState = () => server;
export const signedOutNow = () => override === "signed-out";

export const show = () => {
  root.dataset.state = isOpen() ? override || server : "closed";
  const busy = busyOf(server);
  if (busy) root.dataset.busy = busy;
  else delete root.dataset.busy;
};

const voice = lazily(() => import("./announce.js"));
export const speak = async (how, what) => (await voice())?.[how](what);

// What has changed since the last announcement: several frames may come at once.
let news = null;

const announce = () => {
  const { before, isAsked } = news;
  news = null;
  const wasBusy = busyOf(before);
  // A quick answer is complete before its run was ever seen at work.
  const ended = (wasBusy || isAsked) && !busyOf(server);
  speak("announce", { state: server, begins: running() && !wasBusy, ended });
  if (ended) tell("message-done", { state: server });
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

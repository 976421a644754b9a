// data-state: the state of the run, and what the connection adds to it.

import { byId, emit, isOpen, lazy, root } from "./root.js";

const RUNNING = ["thinking", "streaming", "tool", "stopping"];
let runState = isOpen() ? root.dataset.state : "idle";
let connection = ""; // "offline", "resyncing" or "signed-out" while there is none

/** When the state has changed, in milliseconds. */
export const changedAt = { state: Date.now() };

export const isRunning = (name = runState) => RUNNING.includes(name);

/** @param {string} name */
const busyOf = (name) =>
  isRunning(name) ? "run" : name.startsWith("waiting") ? "wait" : "";

export const isSessionOver = () => connection === "signed-out";

export const renderState = () => {
  root.dataset.state = isOpen() ? connection || runState : "closed";
  byId("aia-launcher")?.setAttribute("aria-expanded", `${isOpen()}`);
  const busy = busyOf(runState);
  if (busy) root.dataset.busy = busy;
  else delete root.dataset.busy;
};

const voice = lazy(() => import("./announce.js"));

/**
 * Speaks to a screen reader, by a function of announce.js.
 *
 * @param {"say" | "announce"} how
 * @param {any} what
 */
export const speak = async (how, what) => (await voice())?.[how](what);

// The state before the last announcement: several frames may come at once.
/** @type {{ before: string, isAsked: boolean } | null} */
let change = null;

const announceChange = () => {
  const { before, isAsked } = change;
  change = null;
  const wasBusy = busyOf(before);
  // A quick answer is complete before its run was ever seen at work.
  const ended = (wasBusy || isAsked) && !busyOf(runState);
  const begins = isRunning() && !wasBusy;
  speak("announce", { state: runState, begins, ended });
  if (ended) emit("message-done", { state: runState });
};

let isAnswerDue = false;
root.addEventListener("aia:accepted", () => {
  isAnswerDue = true;
});

/** @param {string} name */
const store = (name) => {
  runState = name;
  changedAt.state = Date.now();
  renderState();
  emit("state");
};

/**
 * Takes the state of the run that a frame brings.
 *
 * @param {string} name
 */
export const setRunState = (name) => {
  if (name === runState && !isAnswerDue) return;
  // After the whole frame: the sentence to say may come with it.
  if (!change) queueMicrotask(announceChange);
  change ??= { before: runState, isAsked: false };
  change.isAsked ||= isAnswerDue;
  isAnswerDue = false;
  if (name !== runState) store(name);
};

/**
 * Takes the state of a conversation that was drawn anew: nothing is announced.
 *
 * @param {string} name
 */
export { store as resetRunState };

/** @param {string} name empty once there is a connection */
export const setConnection = (name) => {
  if (name === connection) return;
  connection = name;
  renderState();
  emit("conn", { state: name || "online" });
};

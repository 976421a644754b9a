// What a screen reader hears: one short sentence at a time, never the stream.
// Loaded with the first thing there is to say.

import { byId, emit, root, translate } from "./root.js";

const PAUSE_MS = 3000;
const SHORT_ANSWER = 400;
let spokenAt = 0;
/** @type {number} */
let timer;

/** @param {string} text */
export const say = (text) => {
  clearTimeout(timer);
  const wait = Math.max(50, spokenAt + PAUSE_MS - Date.now());
  timer = setTimeout(() => {
    spokenAt = Date.now();
    byId("aia-say").textContent = text;
  }, wait);
};

/** @param {string} text */
export const alertNow = (text) => {
  byId("aia-alert").textContent = text;
};

/**
 * Returns the last answer; of one that went on after a cut, the last part.
 *
 * @returns {HTMLElement | undefined}
 */
const lastAnswer = () =>
  /** @type {any} */ ([...root.querySelectorAll("[data-run-id]")].at(-1));

const describeEnd = () => {
  const answer = lastAnswer();
  /** @type {HTMLElement[]} */
  const bodies = Array.from(answer?.querySelectorAll(".aia-body") ?? []);
  const text = bodies
    // What is folded is not read: textContent would have it.
    .map((body) => body.innerText)
    .join(" ")
    .trim();
  if (text && text.length <= SHORT_ANSWER) return text;
  const tools = answer?.querySelectorAll(".aia-tool").length;
  const blocks = answer?.querySelectorAll(".aia-body > .aia-b").length ?? 0;
  return translate("ready", blocks) + (tools ? ` ${translate("used", tools)}` : "");
};

const announceApprovals = () => {
  alertNow(translate("approval"));
  for (const card of root.querySelectorAll("#aia-pinned .aia-approval")) {
    const title = card.querySelector("h3").textContent.trim();
    emit("approval", { id: card.id.slice(2), title });
  }
};

const announceFailure = () => {
  const answer = lastAnswer();
  /** @type {HTMLElement | undefined} */
  const line = answer?.querySelector(".aia-error");
  const text = line?.textContent.trim() ?? "";
  alertNow(text);
  emit("error", { run: answer?.dataset.runId, code: line?.dataset.code, text });
};

/**
 * Says what has become of a run.
 *
 * @param {{ state: string, begins: boolean, ended: boolean }} change
 */
export const announce = ({ state, begins, ended }) => {
  if (begins) say(translate("answering"));
  if (state === "idle" && ended) say(describeEnd());
  if (state === "stopped") say(translate("stopped"));
  if (state === "waiting-answer") say(translate("question"));
  if (state === "waiting-approval") announceApprovals();
  if (state === "error" || state === "limited") announceFailure();
};

// What a screen reader hears: one short sentence at a time, never the stream.
// Loaded with the first thing there is to say.
import { byId, root, tell, word } from "./root.js";

const PAUSE_MS = 3000;
const SHORT_ANSWER = 400;
let last = 0;
let timer;

export const say = (text) => {
  clearTimeout(timer);
  const wait = Math.max(50, last + PAUSE_MS - Date.now());
  timer = setTimeout(() => {
    last = Date.now();
    byId("aia-say").textContent = text;
  }, wait);
};

export const alertNow = (text) => {
  byId("aia-alert").textContent = text;
};

// Of one that went on after a cut, the last part.
const lastAnswer = () => [...root.querySelectorAll("[data-run-id]")].at(-1);

const ending = () => {
  const answer = lastAnswer();
  const bodies = [...(answer?.querySelectorAll(".aia-body") ?? [])];
  const text = bodies
    .map((body) => body.innerText)
    .join(" ")
    .trim();
  if (text && text.length <= SHORT_ANSWER) return text;
  const tools = answer?.querySelectorAll(".aia-tool").length;
  const blocks = answer?.querySelectorAll(".aia-body > .aia-b").length ?? 0;
  return word("ready", blocks) + (tools ? ` ${word("used", tools)}` : "");
};

const askForApproval = () => {
  alertNow(word("approval"));
  for (const card of root.querySelectorAll("#aia-pinned .aia-approval")) {
    const title = card.querySelector("h3").textContent.trim();
    tell("approval", { id: card.id.slice(2), title });
  }
};

const fail = () => {
  const answer = lastAnswer();
  const line = answer?.querySelector(".aia-error");
  const text = line?.textContent.trim() ?? "";
  alertNow(text);
  tell("error", { run: answer?.dataset.runId, code: line?.dataset.code, text });
};

// What has become of a run: `begins` and `ended` say what there is to tell of it.
export const announce = ({ state, begins, ended }) => {
  if (begins) say(word("answering"));
  if (state === "idle" && ended) say(ending());
  if (state === "stopped") say(word("stopped"));
  if (state === "waiting-answer") say(word("question"));
  if (state === "waiting-approval") askForApproval();
  if (state === "error" || state === "limited") fail();
};

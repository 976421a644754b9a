// What stands beside a lost connection: when it is tried again, and a button for now.
import { alertNow } from "./announce.js";
import { byId, clone, root, word } from "./root.js";

const ALERT_MS = 3000; // after the line: five seconds in all
let line = null;
let due = 0;

const tick = () => {
  if (root.dataset.state !== "offline" || !line?.isConnected) return;
  const seconds = Math.max(0, Math.ceil((due - Date.now()) / 1000));
  const text = seconds ? word("again", seconds) : word("trying");
  const said = line.querySelector("span");
  if (said.textContent !== text) said.textContent = text;
  setTimeout(tick, 250);
};

// `at` is when the next try is due, in ms; `now()` tries at once.
export const count = (at, now) => {
  due = at;
  if (line?.isConnected || !byId("aia-conn")) return;
  line = clone("aia-t-offline");
  line.querySelector("button").addEventListener("click", now);
  byId("aia-conn").replaceChildren(line);
  tick();
  setTimeout(
    () => root.dataset.state === "offline" && alertNow(word("lost")),
    ALERT_MS
  );
};

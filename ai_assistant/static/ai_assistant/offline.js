// What stands beside a lost connection: when it is tried again, and a button for now.

import { alertNow } from "./announce.js";
import { byId, cloneTemplate, root, translate } from "./root.js";

const ALERT_MS = 3000; // after the line: five seconds in all
/** @type {HTMLElement | null} */
let line = null;
let retryAt = 0;

const tick = () => {
  if (root.dataset.state !== "offline" || !line?.isConnected) return;
  const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  const text = seconds ? translate("again", seconds) : translate("trying");
  const label = line.querySelector("span");
  if (label.textContent !== text) label.textContent = text;
  setTimeout(tick, 250);
};

/**
 * Counts down to the next try, with a button beside it.
 *
 * @param {number} at when it is due, in milliseconds
 * @param {() => void} reconnect tries at once
 */
export const countDown = (at, reconnect) => {
  retryAt = at;
  if (line?.isConnected || !byId("aia-conn")) return;
  line = cloneTemplate("aia-t-offline");
  line.querySelector("button").addEventListener("click", reconnect);
  byId("aia-conn").replaceChildren(line);
  tick();
  setTimeout(
    () => root.dataset.state === "offline" && alertNow(translate("lost")),
    ALERT_MS
  );
};

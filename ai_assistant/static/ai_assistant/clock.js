// The seconds beside what is under way, once it takes long enough to wonder, the time
// that a card or a limit has left, and how long ago something was said.

import { byId, root, showNotice, translate } from "./root.js";
import { changedAt, isRunning } from "./state.js";

/** @type {WeakMap<HTMLElement, number>} */
const firstSeen = new WeakMap();
/** How far this computer's clock is ahead of the server's, which drew the page now. */
const aheadMs = Date.now() - Number(byId("aia-inner").dataset.now) * 1000;

/** @param {HTMLElement} element */
const startOf = (element) => {
  const { clock } = element.dataset;
  if (clock === "state") return changedAt.state;
  if (clock) return Number(clock) * 1000 + aheadMs;
  if (!firstSeen.has(element)) firstSeen.set(element, Date.now());
  return firstSeen.get(element);
};

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1]
];

/**
 * Returns how long a card still waits, in the largest unit that fits.
 *
 * @param {number} seconds
 * @param {string} [language]
 */
export const timeLeft = (seconds, language) => {
  const rest = Math.max(0, seconds);
  const [unit, size] = UNITS.find(([, least]) => rest >= least) ?? UNITS[2];
  const format = new Intl.RelativeTimeFormat(language || undefined);
  return format.format(Math.floor(rest / size), unit);
};

const updateDeadlines = () => {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const elements = root.querySelectorAll("[data-until]");
  for (const element of elements) {
    const seconds = Number(element.dataset.until) - Date.now() / 1000;
    const text = timeLeft(seconds, document.documentElement.lang);
    if (element.textContent === text) continue;
    element.title = new Date(element.dateTime).toLocaleString();
    element.textContent = text;
  }
};

// --- how long a limit still lasts; then that it is over ---

/** @type {WeakMap<HTMLElement, number>} */
const endsAt = new WeakMap();

/** @param {number} number */
const twoDigits = (number) => String(number).padStart(2, "0");

/** @param {number} seconds */
export const clockOf = (seconds) => {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = twoDigits(seconds % 60);
  return hours ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
};

const updateLimits = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const elements = root.querySelectorAll(".aia-left[data-left]");
  for (const element of elements) {
    if (!endsAt.has(element))
      endsAt.set(element, Date.now() + Number(element.dataset.left) * 1000);
    const seconds = Math.ceil((endsAt.get(element) - Date.now()) / 1000);
    if (seconds > 0) element.querySelector("b").textContent = clockOf(seconds);
    else {
      element.textContent = element.dataset.over;
      delete element.dataset.left;
      element.parentElement.querySelector(".aia-btn")?.classList.add("aia-go");
    }
  }
};

// --- when something was said: how long ago within an hour, in full at the focus ---

/** @type {WeakMap<HTMLTimeElement, string>} */
const drawn = new WeakMap(); // the time of day

/** @type {Intl.RelativeTimeFormat} */
let format = null;

/** @param {number} seconds */
export const ago = (seconds) => {
  format ??= new Intl.RelativeTimeFormat(document.documentElement.lang || undefined, {
    numeric: "auto",
    style: "short"
  });
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? format.format(-minutes, "minute") : format.format(0, "second");
};

const updateTimes = () => {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = root.querySelectorAll(".aia-msg time[title]");
  for (const time of times) {
    if (!drawn.has(time)) drawn.set(time, time.textContent);
    const seconds = (Date.now() - aheadMs - Date.parse(time.dateTime)) / 1000;
    const said = seconds < 3600 ? ago(seconds) : drawn.get(time);
    const text = time.closest(".aia-msg:focus-within") ? time.title : said;
    if (time.textContent !== text) time.textContent = text;
  }
};

const tick = () => {
  updateDeadlines();
  updateLimits();
  updateTimes();
  if (root.dataset.busy !== "run") return;
  /** @type {NodeListOf<HTMLElement>} */
  const elements = root.querySelectorAll("[aria-busy=true] [data-clock]");
  for (const element of elements) {
    const seconds = Math.floor((Date.now() - startOf(element)) / 1000);
    const isLong = seconds >= Number(element.dataset.after);
    const text = isLong ? translate("seconds", seconds) : "";
    if (element.textContent !== text) element.textContent = text;
  }
};

tick();
// Makes the format now: a slow browser would take longer than a frame for the first one.
setTimeout(ago, 0, 0);
setInterval(tick, 500);
// What is drawn anew has no seconds, and another state begins: before either is seen.
for (const name of ["htmx.after.swap", "aia:error", "aia:state"])
  root.addEventListener(name, tick);

// The notice that an answer is awaited goes when it has ended, or waits itself.
root.addEventListener("aia:frame", () => {
  if (!isRunning() && byId("aia-notice")?.textContent === translate("wait"))
    showNotice("");
});

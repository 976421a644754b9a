// The seconds beside what is under way, once it takes long enough to wonder, and the
// time that a card has left.
import { byId, notice, root, word } from "./root.js";
import { running, since } from "./state.js";

const seen = new WeakMap();
let ahead = null; // how far this computer's clock is ahead of the server's

const startOf = (element) => {
  const { clock } = element.dataset;
  if (clock === "state") return since.state;
  if (clock) return Number(clock) * 1000 + ahead;
  if (!seen.has(element)) seen.set(element, Date.now());
  return seen.get(element);
};

// How long a card still waits, in the largest unit that fits.
const UNITS = { hour: 3600, minute: 60, second: 1 };

const left = (element) => {
  const seconds = Math.max(0, element.dataset.until - Date.now() / 1000);
  const [unit, size] = Object.entries(UNITS).find(([, one]) => seconds >= one) ?? [
    "second",
    1
  ];
  const { lang } = document.documentElement;
  return new Intl.RelativeTimeFormat(lang || undefined).format(
    Math.floor(seconds / size),
    unit
  );
};

const countDown = () => {
  for (const element of root.querySelectorAll("[data-until]")) {
    const text = left(element);
    if (element.textContent === text) continue;
    element.title = new Date(element.dateTime).toLocaleString();
    element.textContent = text;
  }
};

const tick = () => {
  countDown();
  if (root.dataset.busy !== "run") return;
  ahead ??= Date.now() - Number(byId("aia-inner").dataset.now) * 1000;
  for (const element of root.querySelectorAll("[aria-busy=true] [data-clock]")) {
    const seconds = Math.floor((Date.now() - startOf(element)) / 1000);
    const text = seconds >= element.dataset.after ? word("seconds", seconds) : "";
    if (element.textContent !== text) element.textContent = text;
  }
};

tick();
setInterval(tick, 500);

// The word that an answer is to be waited for goes when it has ended, or waits itself.
root.addEventListener("aia:frame", () => {
  if (!running() && byId("aia-notice")?.textContent === word("wait")) notice("");
});

// A tour: the person steps through places of one page or of several. It goes on, on the
// page that comes next, until they end it.

import { say } from "./announce.js";
import { isDirty } from "./dirty.js";
import { bringInSight, elementOf, point } from "./highlight.js";
import { byId, cloneTemplate, emit, pagePath, translate } from "./root.js";
import { read, write } from "./storage.js";

const KEY = "aia.tour";
const GOING = "aia.going";
const LATE_MS = 3000; // in which a page may still draw what is pointed at

/** @typedef {{ path: string, title: string, selector: string, text: string }} Step */
/** @typedef {{ steps: Step[], at: number }} Tour */

let leave = () => {};
let isWarned = false; // that something is unsaved

/** @param {Tour} tour */
const keep = (tour) => write("sessionStorage", KEY, JSON.stringify(tour));

/** @returns {Tour | null} */
const kept = () => {
  try {
    return JSON.parse(read("sessionStorage", KEY));
  } catch {
    return null;
  }
};

/** @param {Step} step */
const isHere = ({ path }) => path === pagePath() || path === location.pathname;

/**
 * @param {Step} step
 * @param {string} text
 */
const pointWhenThere = async ({ selector }, text) => {
  if (!selector) return;
  let isOver = false;
  leave = () => {
    isOver = true;
  };
  for (const end = Date.now() + LATE_MS; Date.now() < end && !isOver; ) {
    const element = elementOf(selector);
    if (element) {
      leave = point(element, text);
      bringInSight(element);
      return;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
};

const end = () => {
  leave();
  write("sessionStorage", KEY);
  document.querySelector(".aia-tour")?.remove();
  byId("aia-input")?.focus();
};

/**
 * @param {Tour} tour
 * @param {number} at
 */
const goTo = (tour, at) => {
  const step = tour.steps[at];
  if (!isHere(step)) {
    if (isDirty() && !isWarned) {
      isWarned = true;
      const [text] = document.querySelectorAll(".aia-tour span");
      text.textContent = translate("tourUnsaved");
      say(text.textContent);
      return;
    }
    if (!emit("before-navigate", { path: step.path })) return;
    const target = new URL(step.path, location.href);
    if (target.origin !== location.origin) return end(); // the page can write it
    keep({ ...tour, at });
    location.assign(target);
    return;
  }
  keep({ ...tour, at });
  show({ ...tour, at });
};

/** @param {Tour} tour */
const show = (tour) => {
  leave();
  isWarned = false;
  const { steps, at } = tour;
  const step = steps[at];
  const said = `${at + 1}. ${step.text}`;
  const note = cloneTemplate("aia-t-tour");
  const [text, count] = note.querySelectorAll("span");
  count.textContent = `${at + 1} / ${steps.length}`;
  text.textContent = isHere(step) ? step.text : `${step.title}: ${step.text}`;
  const [back, next, close] = note.querySelectorAll("button");
  back.hidden = !at;
  back.onclick = () => goTo(tour, at - 1);
  const isLast = at + 1 === steps.length;
  next.hidden = isLast && isHere(step);
  next.onclick = () => goTo(tour, isHere(step) ? at + 1 : at);
  close.onclick = end;
  const hadFocus = document.activeElement?.closest(".aia-tour");
  document.querySelector(".aia-tour")?.remove();
  byId("aia-notice").before(note); // what is sent meanwhile has its notices there
  if (hadFocus) (next.hidden ? close : next).focus();
  say(`${count.textContent} ${text.textContent}`);
  if (isHere(step)) pointWhenThere(step, said);
};

/** @param {{ steps: Step[] }} values */
export const startTour = ({ steps }) => {
  const tour = { steps, at: 0 };
  keep(tour);
  show(tour);
  return { started: true, steps: steps.length };
};

// The next page loads the tools of the panel if somebody is going there.
addEventListener("pagehide", () => {
  if (kept() && !read("sessionStorage", GOING)) write("sessionStorage", GOING, "null");
});

const tour = kept();
if (tour?.steps?.[tour.at]) show(tour);

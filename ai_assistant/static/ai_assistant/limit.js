// How long a limit still lasts, second by second; then that it is over.

import { root } from "./root.js";

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

const tick = () => {
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

tick();
setInterval(tick, 500);

// How long a limit still lasts, second by second; then that it is over.
import { root } from "./root.js";

const ends = new WeakMap();
const two = (number) => String(number).padStart(2, "0");

const clockOf = (seconds) => {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = two(seconds % 60);
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
};

const tick = () => {
  for (const element of root.querySelectorAll(".aia-left[data-left]")) {
    if (!ends.has(element)) ends.set(element, Date.now() + element.dataset.left * 1000);
    const seconds = Math.ceil((ends.get(element) - Date.now()) / 1000);
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

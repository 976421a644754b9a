// The seconds beside what is under way, once it takes long enough to wonder.
import { byId, root, word } from "./root.js";
import { since } from "./state.js";

const seen = new WeakMap();
let ahead = null; // how far this computer's clock is ahead of the server's

const startOf = (element) => {
  const { clock } = element.dataset;
  if (clock === "state") return since.state;
  if (clock) return Number(clock) * 1000 + ahead;
  if (!seen.has(element)) seen.set(element, Date.now());
  return seen.get(element);
};

const tick = () => {
  if (root.dataset.busy !== "run") return;
  ahead ??= Date.now() - Number(byId("aia-inner").dataset.now) * 1000;
  for (const element of root.querySelectorAll("[aria-busy=true] [data-clock]")) {
    const seconds = Math.floor((Date.now() - startOf(element)) / 1000);
    const text = seconds >= element.dataset.after ? word("seconds", seconds) : "";
    if (element.textContent !== text) element.textContent = text;
  }
};

setInterval(tick, 500);

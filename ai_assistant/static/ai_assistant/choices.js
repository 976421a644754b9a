// What is chosen on a card and in the composer, and what follows from it.
import { byId, root } from "./root.js";

const YEAR_S = 365 * 24 * 3600;

// The button of a card says to how many rows it does what it says.
const count = () => {
  for (const place of root.querySelectorAll("[data-aia-count]")) {
    const ticks = [...place.closest("button").form.querySelectorAll("[name=rows]")];
    if (!ticks.length) continue;
    const chosen = ticks.filter((tick) => tick.checked).length;
    const number = Number(place.dataset.rest) + chosen;
    place.textContent = number;
    place.closest("button").disabled = !number;
  }
};

const remember = () => {
  const age = byId("aia-look")?.value ? YEAR_S : 0;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_look=1;path=/;max-age=${age};samesite=lax${secure}`;
};

const choose = () => {
  count();
  remember();
};

root.addEventListener("change", choose);
root.addEventListener("aia:frame", count);
choose();

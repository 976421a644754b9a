// What is chosen on a card and in the composer, and what follows from it.

import { byId, root } from "./root.js";

const YEAR_S = 365 * 24 * 3600;

/** Says on the button of a card how many rows it is about to change. */
const countRows = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const places = root.querySelectorAll("[data-aia-count]");
  for (const place of places) {
    const button = place.closest("button");
    /** @type {NodeListOf<HTMLInputElement>} */
    const boxes = button.form.querySelectorAll("[name=rows]");
    if (!boxes.length) continue;
    const ticked = [...boxes].filter((box) => box.checked).length;
    const count = Number(place.dataset.rest) + ticked;
    place.textContent = `${count}`;
    button.disabled = !count;
  }
};

const saveLookOnly = () => {
  const age = byId("aia-look")?.value ? YEAR_S : 0;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_look=1;path=/;max-age=${age};samesite=lax${secure}`;
};

const onChange = () => {
  countRows();
  saveLookOnly();
};

root.addEventListener("change", onChange);
root.addEventListener("aia:frame", countRows);
onChange();

// What is chosen on a card and in the composer, and what follows from it.

import { byId, root } from "./root.js";

const YEAR_S = 365 * 24 * 3600;

/** @param {Element} place */
const boxesOf = (place) => {
  /** @type {NodeListOf<HTMLInputElement>} */
  const boxes = place.closest(".aia-approval").querySelectorAll("[name=rows]");
  return [...boxes];
};

/** Says on the button of a card how many rows it is about to change. */
const countRows = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const places = root.querySelectorAll("[data-aia-count]");
  for (const place of places) {
    const boxes = boxesOf(place);
    if (!boxes.length) continue;
    const button = place.closest("button");
    const ticked = boxes.filter((box) => box.checked).length;
    const isWhole = button.form.elements.namedItem("has_all_rows");
    const count = (isWhole ? 0 : Number(place.dataset.rest)) + ticked;
    place.textContent = `${count}`;
    button.disabled = !count;
    /** @type {HTMLInputElement} */
    const all = button.form.querySelector("[data-aia-all]");
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && !all.checked;
  }
};

const saveLookOnly = () => {
  const age = byId("aia-look")?.value ? YEAR_S : 0;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_look=1;path=/;max-age=${age};samesite=lax${secure}`;
};

/** @param {FieldEvent} [event] */
export const onChange = (event) => {
  const box = event?.target;
  if (box?.matches("[data-aia-all]"))
    for (const one of boxesOf(box)) one.checked = box.checked;
  countRows();
  saveLookOnly();
};

root.addEventListener("aia:frame", countRows);

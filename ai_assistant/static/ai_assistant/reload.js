// Loads a page anew whose object was changed; asks first if that would lose something.

import { isDirty } from "./dirty.js";

/**
 * @param {Element} bar
 * @param {boolean} isAsking
 */
const show = (bar, isAsking) => {
  /** @type {NodeListOf<HTMLElement>} */
  const parts = bar.querySelectorAll("[data-asks]");
  for (const part of parts) part.hidden = (part.dataset.asks === "1") !== isAsking;
  /** @type {HTMLElement} */
  const button = bar.querySelector(
    isAsking ? "[data-aia-reload=stay]" : "[data-aia-reload=now]"
  );
  button.focus();
};

/** @param {HTMLElement} button */
export const use = ({ dataset, parentElement }) => {
  const bar = parentElement.closest(".aia-stale");
  if (dataset.aiaReload === "stay") show(bar, false);
  else if (dataset.aiaReload === "now" && isDirty()) show(bar, true);
  else location.replace(location.pathname + location.search);
};

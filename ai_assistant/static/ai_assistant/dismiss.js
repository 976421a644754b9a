// The line under the composer, once its person has read it.

import { byId } from "./root.js";

const YEAR_S = 365 * 24 * 3600;

/** @param {HTMLElement} button */
export const use = (button) => {
  const secure = location.protocol === "https:" ? ";secure" : "";
  const { mark } = button.dataset;
  document.cookie = `aia_read=${mark};path=/;max-age=${YEAR_S};samesite=lax${secure}`;
  button.parentElement.remove();
  byId("aia-input")?.focus();
};

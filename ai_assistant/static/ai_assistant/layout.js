// Where the panel stands, kept in a cookie so that the server can draw it there.
import { isOpen, root } from "./root.js";

const YEAR_S = 365 * 24 * 3600;

export const saveLayout = () => {
  if (root.dataset.mode === "page") return;
  const { mode, w, conversation } = root.dataset;
  const busy = "busy" in root.dataset ? "&b=1" : "";
  const value = `o=${isOpen() ? 1 : 0}&m=${mode}&w=${w}&c=${conversation}${busy}`;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_ui=${value};path=/;max-age=${YEAR_S};samesite=lax${secure}`;
};

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-aia-mode]");
  if (!button) return;
  root.dataset.mode = button.dataset.aiaMode;
  saveLayout();
  // The pressed button is gone; its counterpart has taken its place.
  root.querySelector(`[data-aia-mode]:not(#${button.id})`).focus();
});

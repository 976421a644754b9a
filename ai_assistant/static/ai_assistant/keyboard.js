// The keyboard map in a dialog, asked for when it is first opened.

import { request } from "./requests.js";
import { byId } from "./root.js";

/** @param {HTMLAnchorElement} link or the button that closes the map */
export const use = async (link) => {
  const dialog = byId("aia-map");
  if (!link.href) return dialog.close();
  const isThere = byId("aia-keys").firstElementChild;
  if (!isThere && !(await request(link)).isDrawn) return location.assign(link.href);
  // The fold closes when the focus leaves it, and what is closed cannot get it back.
  if (link === document.activeElement)
    link.closest("details")?.querySelector("summary").focus();
  if (!dialog.open) dialog.showModal();
};

// The keyboard map, one's commands and the link of a conversation in a dialog.

import { request } from "./requests.js";
import { byId } from "./root.js";

/** @param {HTMLAnchorElement} link or the button that closes the map */
export const use = async (link) => {
  const dialog = byId("aia-map");
  if (!link.href) return dialog.close();
  if (!(await request(link)).isDrawn) return location.assign(link.href);
  // The fold closes when the focus leaves it, and what is closed cannot get it back.
  if (link === document.activeElement)
    link.closest("details")?.querySelector("summary").focus();
  /** @type {HTMLElement} */
  const menu = link.closest("[popover]");
  menu?.hidePopover();
  if (!dialog.open) dialog.showModal();
};

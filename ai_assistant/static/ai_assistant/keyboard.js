// The keyboard map in a dialog, fetched when it is first opened.

import { draw } from "./frames.js";
import { get, root, translate } from "./root.js";

/** @type {HTMLDialogElement} */
let dialog;

/** @param {HTMLAnchorElement} link */
const fetchDialog = async (link) => {
  const response = await get(link.href);
  if (!response.ok || response.redirected) throw response.status;
  const box = document.createElement("dialog");
  box.className = "aia-map";
  box.closedBy = "any";
  draw(box, await response.text());
  const form = document.createElement("form");
  form.method = "dialog";
  const button = document.createElement("button");
  button.className = "aia-btn";
  button.textContent = translate("close");
  form.append(button);
  box.append(form);
  return box;
};

/** @param {HTMLAnchorElement} link */
export const use = async (link) => {
  try {
    dialog ??= await fetchDialog(link);
  } catch {
    return location.assign(link.href);
  }
  // The fold closes when the focus leaves it, and what is closed cannot get it back.
  if (link === document.activeElement)
    link.closest("details")?.querySelector("summary").focus();
  if (!dialog.isConnected) root.append(dialog);
  if (!dialog.open) dialog.showModal();
};

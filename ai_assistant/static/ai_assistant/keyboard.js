// The keyboard map in a dialog, fetched at the first wish.
import { draw } from "./frames.js";
import { ask, root, word } from "./root.js";

let dialog;

const fetched = async (link) => {
  const response = await ask(link.href);
  if (!response.ok || response.redirected) throw new Error(response.status);
  const box = document.createElement("dialog");
  box.className = "aia-map";
  box.closedBy = "any";
  draw(box, await response.text());
  const form = document.createElement("form");
  form.method = "dialog";
  const button = document.createElement("button");
  button.className = "aia-btn";
  button.textContent = word("close");
  form.append(button);
  box.append(form);
  return box;
};

export const use = async (link) => {
  try {
    dialog ??= await fetched(link);
  } catch {
    return location.assign(link.href);
  }
  // The fold closes when the focus leaves it, and what is closed cannot get it back.
  if (link === document.activeElement)
    link.closest("details")?.querySelector("summary").focus();
  if (!dialog.isConnected) root.append(dialog);
  if (!dialog.open) dialog.showModal();
};

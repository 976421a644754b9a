// The fold of the head: what a person may choose, kept in the cookie of the layout.

import { isOn } from "./notify.js";
import { byId, root } from "./root.js";
import { updateCookie } from "./storage.js";

const box = () => byId("aia-settings");

/** @param {boolean} [isFocusBack] */
const close = (isFocusBack) => {
  if (!box()?.open) return;
  box().open = false;
  if (isFocusBack) box().querySelector("summary").focus();
};

export const use = () => {
  if (box().open) return close(true);
  box().open = true;
  byId("aia-notify").checked = isOn();
  byId("aia-notify").disabled = !window.Notification;
  /** @type {HTMLElement} */
  const first = box().querySelector(".aia-settings :is(input, select, a)");
  first.focus();
};

// --- what is chosen ---

/** @type {Record<string, string>} */
const CORNERS = { e: "end", s: "start", n: "none" };

// Nobody is left without a way in: with neither button nor keys the button stays.
const drawCorner = () => {
  const value = byId("aia-set-corner")?.value;
  if (!value) return;
  root.dataset.corner = value === "n" && !root.dataset.keys ? "end" : CORNERS[value];
};

/**
 * @param {string} name
 * @param {string | false} value
 */
const setData = (name, value) => {
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
};

/** @type {Record<string, (field: HTMLInputElement) => void>} */
const choices = {
  e: ({ value }) => setData("enter", value && "ctrl"),
  l: drawCorner,
  k: ({ checked, value }) => {
    setData("keys", checked && value);
    drawCorner();
  }
};

root.addEventListener(
  "change",
  /** @param {FieldEvent} event */
  ({ target }) => {
    const { checked, name, type, value } = target;
    if (!target.closest(".aia-settings") || !choices[name]) return;
    updateCookie({ [name]: type === "checkbox" ? !checked && "0" : value });
    choices[name](target);
  }
);

// --- closing it ---

root.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !box()?.open) return;
  event.preventDefault();
  event.stopPropagation();
  close(true);
});
document.addEventListener(
  "pointerdown",
  /** @param {ElementPointerEvent} event */
  ({ target }) => box()?.contains(target) || close()
);
root.addEventListener(
  "focusout",
  /** @param {FocusEvent & { relatedTarget: Node }} event */
  ({ relatedTarget }) => {
    if (relatedTarget && !box()?.contains(relatedTarget)) close();
  }
);

// The wish to be told by the browser when a long answer is ready.

import { byId, root } from "./root.js";
import { read, write } from "./storage.js";

const KEY = "aia.notify";

export const isOn = () =>
  window.Notification?.permission === "granted" &&
  read("localStorage", KEY) === root.dataset.user;

/** @param {HTMLElement} button */
export const use = async (button) => {
  const permission = isOn() ? "" : await Notification.requestPermission();
  write("localStorage", KEY, permission === "granted" ? root.dataset.user : "");
  button.setAttribute("aria-pressed", `${isOn()}`);
  const isDenied = permission === "denied";
  byId("aia-notify-why").textContent = isDenied ? button.dataset.blocked : "";
};

// The wish to be told by the browser when a long answer is ready.

import { byId, root } from "./root.js";
import { read, write } from "./storage.js";

const KEY = "aia.notify";

export const isOn = () =>
  window.Notification?.permission === "granted" &&
  read("localStorage", KEY) === root.dataset.user;

/** @param {HTMLInputElement} box */
export const use = async (box) => {
  const permission = isOn() ? "" : await Notification.requestPermission();
  write("localStorage", KEY, permission === "granted" ? root.dataset.user : "");
  box.checked = isOn();
  const isDenied = permission === "denied";
  byId("aia-notify-why").textContent = isDenied ? box.dataset.blocked : "";
};

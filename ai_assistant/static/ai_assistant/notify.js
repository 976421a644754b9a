// The wish to be told by the browser when a long answer is ready.
import { byId, root } from "./root.js";
import { read, write } from "./store.js";

const KEY = "aia.notify";

export const isOn = () =>
  window.Notification?.permission === "granted" &&
  read("localStorage", KEY) === root.dataset.user;

export const use = async (button) => {
  const allowed = isOn() ? "" : await Notification.requestPermission();
  write("localStorage", KEY, allowed === "granted" ? root.dataset.user : "");
  button.setAttribute("aria-pressed", isOn());
  byId("aia-notify-why").textContent =
    allowed === "denied" ? button.dataset.blocked : "";
};

// The modules that a click may ask for by `data-aia-use`. Each is named in full: a
// storage that hashes the names of files finds them so.

/** @typedef {{ use: (element: any) => unknown }} Action */

/** @type {Record<string, () => Promise<Action>>} */
const modules = {
  copy: () => import("./copy.js"),
  dismiss: () => import("./dismiss.js"),
  earlier: () => import("./earlier.js"),
  edit: () => import("./edit.js"),
  history: () => import("./history.js"),
  keyboard: () => import("./keyboard.js"),
  move: () => import("./move.js"),
  reload: () => import("./reload.js"),
  notify: () => import("./notify.js"),
  queue: () => import("./queue.js"),
  settings: () => import("./settings.js")
};

/** @param {HTMLElement} element */
export const load = (element) => modules[element.dataset.aiaUse]();

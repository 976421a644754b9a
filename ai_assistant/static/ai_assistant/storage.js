// What the browser keeps: its storage, which may be switched off, full or broken by
// hand, and the cookie in which the server finds how the panel was left.

import { isOpen, root } from "./root.js";

// --- storage ---

/** @typedef {"localStorage" | "sessionStorage"} Area */

/**
 * @param {Area} area
 * @param {string} key
 */
export const read = (area, key) => {
  try {
    return window[area].getItem(key);
  } catch {
    return null;
  }
};

/**
 * @param {Area} area
 * @param {string} key
 * @param {string} [value] none removes the key
 */
export const write = (area, key, value) => {
  try {
    if (value) window[area].setItem(key, value);
    else window[area].removeItem(key);
  } catch {
    // the text is still in the field
  }
};

/**
 * @param {Area} area
 * @param {string} key
 * @returns {any[]}
 */
export const readList = (area, key) => {
  try {
    const list = JSON.parse(read(area, key));
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
};

// --- the cookie ---

const YEAR_S = 365 * 24 * 3600;
const MAX_CHARS = 200; // the server takes no longer one

/**
 * Changes the named values, and keeps those that this or another tab has stored.
 *
 * @param {Record<string, string | false>} values an empty one removes its name
 */
export const updateCookie = (values) => {
  const raw = /(?:^|; )aia_ui="?([^;"]*)/.exec(document.cookie)?.[1] ?? "";
  const stored = new URLSearchParams(raw.length > MAX_CHARS ? "" : raw);
  for (const [name, value] of Object.entries(values))
    if (value) stored.set(name, value);
    else stored.delete(name);
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_ui=${stored};path=/;max-age=${YEAR_S};samesite=lax${secure}`;
};

export const saveLayout = () => {
  const { mode: m, w, conversation: c } = root.dataset;
  if (m === "page") return;
  updateCookie({ o: isOpen() ? "1" : "0", m, w, c, b: "busy" in root.dataset && "1" });
};

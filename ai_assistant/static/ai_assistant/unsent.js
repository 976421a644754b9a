// What boot.js keeps of messages, an entry each, until they are pending ones.

import { addPending } from "./draft.js";
import { root } from "./root.js";
import { read, write } from "./storage.js";

const KEY = "aia.said";
const stored = () => read("sessionStorage", KEY) ?? "";

/** @param {string} entries */
const remove = (entries) => write("sessionStorage", KEY, stored().replace(entries, ""));

/**
 * Forgets a message that was sent on this page.
 *
 * @param {Record<string, string>} values
 */
export const removeUnsent = (values) => remove(`,${new URLSearchParams(values)}`);

/**
 * Makes pending messages of those whose pages were left before their panel was loaded.
 *
 * @param {() => string} newKey
 * @returns {PendingMessage[]}
 */
export const takeUnsent = (newKey) => {
  const { left } = root;
  root.left = ""; // once
  if (!stored().startsWith(left)) return [];
  const { conversation } = root.dataset;
  const items = left
    .split(",")
    .slice(1)
    .map((entry) => {
      const values = /** @type {any} */ (
        Object.fromEntries(new URLSearchParams(entry))
      );
      return { key: newKey(), conversation, time: Date.now(), ...values };
    });
  items.forEach(addPending);
  remove(left);
  return items;
};

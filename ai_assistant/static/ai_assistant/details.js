// What support needs to find a failed answer, for the clipboard.

import { say } from "./announce.js";
import { showNotice, translate } from "./root.js";

const SHOWN_MS = 1500;

/** @param {HTMLElement} button */
export const use = async (button) => {
  const { run, code } = button.dataset;
  const article = button.closest(".aia-msg");
  const error = article?.querySelector(".aia-error")?.textContent.trim() ?? "";
  const now = new Date().toISOString();
  const lines = [
    `id: ${run}`,
    `code: ${code}`,
    `time: ${now}`,
    `page: ${location}`,
    error
  ];
  try {
    await navigator.clipboard.writeText(lines.join("\n"));
  } catch {
    return showNotice(`id: ${run}, code: ${code}`); // plain http has no clipboard
  }
  const label = /** @type {Text} */ (button.lastChild);
  const before = label.data;
  if (before === translate("copied")) return;
  label.data = translate("copied");
  say(translate("copied"));
  setTimeout(() => {
    label.data = before;
  }, SHOWN_MS);
};

// What support needs to find a failed answer, for the clipboard.
import { say } from "./announce.js";
import { notice, word } from "./root.js";

const SHOWN_MS = 1500;

export const use = async (button) => {
  const { run, code } = button.dataset;
  const article = button.closest(".aia-msg");
  const said = article?.querySelector(".aia-error")?.textContent.trim() ?? "";
  const now = new Date().toISOString();
  const text = [
    `id: ${run}`,
    `code: ${code}`,
    `time: ${now}`,
    `page: ${location}`,
    said
  ];
  try {
    await navigator.clipboard.writeText(text.join("\n"));
  } catch {
    return notice(`id: ${run}, code: ${code}`); // plain http has no clipboard
  }
  const label = button.lastChild;
  const was = label.data;
  if (was === word("copied")) return;
  label.data = word("copied");
  say(word("copied"));
  setTimeout(() => (label.data = was), SHOWN_MS);
};

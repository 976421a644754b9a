// The buttons of a message that waits. The rows are the server's, and so is what is
// drawn of them.

import { field, saveDraft, setText } from "./draft.js";
import { request } from "./requests.js";
import { byId, emit, root, showNotice } from "./root.js";

/** @param {string} text */
const moveToField = (text) => {
  const typed = field().value.trim();
  setText(typed ? `${text}\n\n${typed}` : text);
  saveDraft();
};

// What was said of a press is settled when the answer has ended.
root.addEventListener("aia:message-done", () => showNotice(""));

/** @param {HTMLButtonElement} button */
export const use = async (button) => {
  const { name, value, form } = button;
  const text = button.closest("li")?.querySelector(".aia-text").textContent;
  const { isDrawn, response } = await request(form, { [name]: value });
  if (!isDrawn) {
    const status = response?.status ?? 0;
    return emit("error", { status, text: byId("aia-notice").textContent.trim() });
  }
  showNotice("");
  if (value === "edit") moveToField(text);
  if (value !== "down") field().focus();
};

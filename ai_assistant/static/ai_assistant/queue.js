// The buttons of a message that waits. The rows are the server's, and so is what is
// drawn of them.

import { field, saveDraft, setText } from "./draft.js";
import { isSignedOut, post, root, showNotice } from "./root.js";
import { showRefusal } from "./sending.js";
import { endSession, requestUpdates } from "./ws.js";

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
  const values = { ...Object.fromEntries(new FormData(form)), [name]: value };
  const response = await post(form.action, values).catch(Response.error);
  requestUpdates();
  if (isSignedOut(response)) return endSession();
  if (response.status !== 204) return showRefusal(response);
  showNotice("");
  if (value === "edit") moveToField(text);
  if (value !== "down") field().focus();
};

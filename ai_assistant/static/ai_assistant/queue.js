// What the person does with a message that waits. The rows are the server's, and so is
// what is drawn of them.
import { field, fill, saveDraft } from "./field.js";
import { notice, post, root, signedOut } from "./root.js";
import { explain } from "./sending.js";
import { endSession, look } from "./ws.js";

const edit = (text) => {
  const typed = field().value.trim();
  fill(typed ? `${text}\n\n${typed}` : text);
  saveDraft();
};

// What was said of a press is settled when the answer has ended.
root.addEventListener("aia:message-done", () => notice(""));

export const use = async (button) => {
  const { name, value, form } = button;
  const text = button.closest("li")?.querySelector(".aia-text").textContent;
  const values = { ...Object.fromEntries(new FormData(form)), [name]: value };
  const response = await post(form.action, values).catch(Response.error);
  look();
  if (signedOut(response)) return endSession();
  if (response.status !== 204) return explain(response);
  notice("");
  if (value === "edit") edit(text);
  if (value !== "down") field().focus();
};

// The field of the composer and its draft. A text is never lost: it is in the field,
// in the draft or among the pending ones until the conversation shows it.
import { all } from "./pending.js";
import { byId, root, word } from "./root.js";
import { write } from "./store.js";

const GROWS = CSS.supports("field-sizing", "content");

export const field = () => byId("aia-input");
export const keyField = () => byId("aia-form").elements.key;
export const draftOf = (name) => `aia.draft.${root.dataset.user}.${name}`;
// Until its first message a conversation has no lasting name.
export const isNew = () => !root.querySelector(".aia-msg");
export const draftKey = () => draftOf(isNew() ? "new" : root.dataset.conversation);
export const isHere = (item) => item.conversation === root.dataset.conversation;

const LARGE = 20_000; // characters: to guess a direction and a size takes minutes then

// Before the text is in the field: what comes after it would be too late.
const fit = (length) => {
  const input = field();
  const { direction } = getComputedStyle(root);
  input.dir = length > LARGE ? direction : "auto";
  input.toggleAttribute("data-large", length > LARGE);
};

const grow = () => {
  const input = field();
  fit(input.value.length);
  const { max } = input.dataset;
  const left = max - input.value.length;
  const over = left < 0 ? word("over", -left) : word("left", left);
  byId("aia-count").textContent = left < max / 10 ? over : "";
  if (GROWS) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
};

export const fill = (text) => {
  if (!field()) return;
  fit(text.length);
  field().value = text;
  grow();
};

let draftTimer;
export const saveDraft = () => {
  clearTimeout(draftTimer);
  if (!field() || root.sent) return;
  const { value } = field();
  // An empty field keeps the draft of what is still on its way.
  write("localStorage", draftKey(), value.trim() ? value : all().find(isHere)?.text);
};

// The browser's own way to insert a long text takes half a minute for two megabytes.
root.addEventListener("beforeinput", (event) => {
  const { target, data } = event;
  if (target.id !== "aia-input" || !(data?.length > LARGE)) return;
  event.preventDefault();
  fit(target.value.length + data.length);
  target.setRangeText(data, target.selectionStart, target.selectionEnd, "end");
  target.dispatchEvent(new Event("input", { bubbles: true }));
});
root.addEventListener("input", ({ target }) => {
  if (target.id !== "aia-input") return;
  grow();
  clearTimeout(draftTimer);
  draftTimer = setTimeout(saveDraft, 300);
});
addEventListener("pagehide", saveDraft);

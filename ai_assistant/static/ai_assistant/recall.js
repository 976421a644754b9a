// What was asked before, by Up and Down in a field that is empty or shows it unchanged.

import { field, setText } from "./draft.js";
import { byId, root } from "./root.js";

let place = 0; // how far back; 0 is the empty field

/** Returns what was asked, the last first; a repeated text counts once. */
const askedTexts = () => {
  const elements = root.querySelectorAll(".aia-msg[data-role=user] .aia-text");
  const texts = [...elements].map((element) => element.textContent.trim());
  const all = texts.filter(Boolean);
  return all.filter((text, n) => text !== all[n + 1]).reverse();
};

const isUntouched = () => field().value === (field().dataset.recalled ?? "");

/** @param {string} text */
const show = (text) => {
  setText(text);
  if (text) field().dataset.recalled = text;
  else delete field().dataset.recalled;
};

/**
 * Goes one back or forward, if the caret stands where the key cannot move it.
 *
 * @param {KeyboardEvent} event
 */
export const step = ({ key, ctrlKey, shiftKey, altKey, metaKey }) => {
  if (shiftKey || altKey || metaKey || !isUntouched()) return;
  if (!field().value) place = 0;
  const { selectionStart, selectionEnd, value } = field();
  const back = key === "ArrowUp";
  if (selectionStart !== selectionEnd || selectionEnd !== (back ? 0 : value.length))
    return;
  const edit = back && !value && !ctrlKey && byId("aia-edit-last");
  if (edit) return edit.click();
  const texts = askedTexts();
  const next = place + (back ? 1 : -1);
  if (next < 0 || next > texts.length) return;
  place = next;
  show(place ? texts[place - 1] : "");
  const caret = back ? 0 : field().value.length;
  field().setSelectionRange(caret, caret);
};

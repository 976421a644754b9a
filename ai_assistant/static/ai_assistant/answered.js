// What a command has answered itself, below the conversation; and what it has the panel
// do at once. Loaded with the first of these.

import { swap } from "./htmx.js";
import { byId, root } from "./root.js";
import { speak } from "./state.js";

/** @type {Record<string, (box: HTMLElement) => void>} */
const doing = {
  new: () => byId("aia-new").requestSubmit(),
  undo: (box) => box.querySelector("a").click(),
  model: ({ dataset }) => {
    const choice = byId("aia-profile");
    if (choice) choice.value = dataset.value;
  }
};

/** @param {Response} response */
export const showAnswer = async (response) => {
  await swap(await response.text());
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = root.querySelectorAll(".aia-told");
  const box = boxes[boxes.length - 1];
  byId("aia-empty")?.remove();
  doing[box.dataset.does]?.(box);
  if (box.dataset.does === "new") return;
  box.scrollIntoView({ block: "nearest" });
  speak("say", box.innerText.slice(0, 400));
};

/** @param {HTMLElement} form  The fields that a command lacks. */
export const askArguments = (form) => {
  byId("aia-arguments").replaceWith(form);
  /** @type {HTMLElement} */ (form.querySelector("[name^=argument-]")).focus();
};

// The fold of the head: what a person may choose, kept in the cookie of the layout.
import { keep } from "./layout.js";
import { byId, root } from "./root.js";

const box = () => byId("aia-settings");
const button = () => box().querySelector("summary");

const close = (isBack) => {
  if (!box()?.open) return;
  box().open = false;
  if (isBack) button().focus();
};

export const use = () => {
  if (box().open) return close(true);
  box().open = true;
  box().querySelector(".aia-settings :is(input, select, a)").focus();
};

// --- what is chosen ---

const CORNERS = { e: "end", s: "start", n: "none" };

// Nobody is left without a way in: with neither button nor keys the button stays.
const drawCorner = () => {
  const { value } = byId("aia-set-corner") ?? {};
  if (!value) return;
  root.dataset.corner = value === "n" && !root.dataset.keys ? "end" : CORNERS[value];
};

const set = (name, value) => {
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
};

const choices = {
  e: ({ value }) => set("enter", value && "ctrl"),
  l: drawCorner,
  k: ({ checked, value }) => {
    set("keys", checked && value);
    drawCorner();
  }
};

root.addEventListener("change", ({ target }) => {
  const { checked, name, type, value } = target;
  if (!target.closest(".aia-settings") || !choices[name]) return;
  keep({ [name]: type === "checkbox" ? !checked && "0" : value });
  choices[name](target);
});

// --- closing it ---

root.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !box()?.open) return;
  event.preventDefault();
  event.stopPropagation();
  close(true);
});
document.addEventListener(
  "pointerdown",
  ({ target }) => box()?.contains(target) || close()
);
root.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget && !box()?.contains(relatedTarget)) close();
});

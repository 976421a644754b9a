// Another version of a question: the form in which it is edited, the menu of how to
// answer it anew. Both come from the server and stand below what they belong to.
import { draw } from "./frames.js";
import { ask, byId, root, signedOut } from "./root.js";

const typed = new Map(); // what was written and not sent, by the address of its form
const places = new Map(); // where each form stands, by its address

// The link itself may be drawn anew while its form is open.
const links = () => [...root.querySelectorAll("a[data-aia-use=edit]")];
const mark = (address, open) => {
  const link = links().find(({ href }) => href === address);
  link?.setAttribute("aria-expanded", open);
  return link;
};

const close = (address) => {
  places.get(address).remove();
  places.delete(address);
  mark(address, false)?.focus();
};

const addressOf = (element) =>
  [...places].find(([, place]) => place.contains(element))?.[0];

const begin = (place, address) => {
  const text = place.querySelector("textarea");
  if (!text) return place.querySelector("button, a")?.focus();
  text.value = typed.get(address) ?? text.value;
  text.addEventListener("input", () => typed.set(address, text.value));
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
  // A log that is followed has gone to its end by then.
  const show = () => text.scrollIntoView({ block: "nearest" });
  requestAnimationFrame(() => requestAnimationFrame(show));
};

const open = async (link) => {
  const { href } = link;
  const place = document.createElement("div");
  places.set(href, place);
  // Not within a question: that may be drawn anew while somebody writes.
  (link.closest(".aia-acts") ?? link.closest(".aia-msg")).after(place);
  mark(href, true);
  try {
    const response = await ask(`${href}&title=${encodeURIComponent(document.title)}`);
    if (signedOut(response) || !response.ok) throw new Error(response.status);
    draw(place, await response.text());
    begin(place, href);
  } catch {
    location.assign(href); // a page of its own says what is wrong
  }
};

const editLast = () => {
  const link = links().findLast((one) => one.matches(".aia-mine > a"));
  if (link && !places.has(link.href)) open(link);
};

// A press on a link that opens a form, on the same one again, or on its Cancel; and on
// the button without a look that stands for the last question, for the composer's keys.
export const use = (element) => {
  if (element.id === "aia-edit-last") return editLast();
  const address = addressOf(element) ?? element.href;
  return places.has(address) ? close(address) : open(element);
};

const sends = (event) =>
  root.dataset.enter === "ctrl"
    ? event.ctrlKey || event.metaKey
    : !event.shiftKey && !event.altKey;

root.addEventListener("keydown", (event) => {
  const { isComposing, key, keyCode, target } = event;
  const address = addressOf(target);
  if (!address || isComposing || keyCode === 229) return;
  if (key === "Escape") {
    event.stopPropagation();
    close(address);
  } else if (key === "Enter" && target.matches("textarea") && sends(event)) {
    event.preventDefault();
    target.form.requestSubmit();
  }
});

// What was sent stands in the conversation soon, in the place of the form.
root.addEventListener("aia:frame", () => {
  for (const [address, place] of places) {
    if (place.isConnected) {
      mark(address, true);
      continue;
    }
    places.delete(address);
    typed.delete(address);
    if (document.activeElement === byId("aia-scroll")) byId("aia-input")?.focus();
  }
});

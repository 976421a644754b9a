// Copies a block of code, or an answer: formatted for what takes it so, and as Markdown
// for the rest.
import { say } from "./announce.js";
import { ask, notice, word } from "./root.js";

const PLAIN = "text/plain";
const RICH = "text/html";
const SHOWN_MS = 1500;
const NOT_OURS = "button, .aia-lang, .aia-host";
const KEPT = ["href", "colspan", "rowspan", "start"]; // of the attributes

// What a document or a mail can use: the elements of the answer, without our own.
const plainCopy = (article) => {
  const copy = document.createElement("div");
  for (const block of article.querySelectorAll(".aia-body > .aia-b"))
    copy.append(...block.cloneNode(true).childNodes);
  for (const extra of copy.querySelectorAll(NOT_OURS)) extra.remove();
  for (const link of copy.querySelectorAll("a")) link.setAttribute("href", link.href);
  for (const element of copy.querySelectorAll("*"))
    for (const { name } of [...element.attributes])
      if (!KEPT.includes(name)) element.removeAttribute(name);
  for (const box of copy.querySelectorAll("div, span"))
    box.replaceWith(...box.childNodes);
  return copy;
};

const markdown = async (address) => {
  const response = await ask(address);
  if (!response.ok || response.redirected) throw new Error(response.status);
  return response.text();
};

const inTypes = (kinds) =>
  Object.fromEntries(
    Object.entries(kinds).map(([type, text]) => [
      type,
      // A promise: the press of the button must not be long ago when this is called.
      Promise.resolve(text).then((known) => new Blob([known], { type }))
    ])
  );

// Plain http has no clipboard but the old way.
const writeOldWay = (kinds) => {
  let done = false;
  const fill = (event) => {
    for (const [type, text] of Object.entries(kinds))
      event.clipboardData.setData(type, text);
    event.preventDefault();
    event.stopImmediatePropagation();
    done = true;
  };
  document.addEventListener("copy", fill, { capture: true, once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", fill, { capture: true });
  if (!done) throw new Error("no clipboard");
};

const write = async (kinds) => {
  if (navigator.clipboard && window.ClipboardItem)
    return navigator.clipboard.write([new ClipboardItem(inTypes(kinds))]);
  const texts = await Promise.all(Object.values(kinds));
  const names = Object.keys(kinds);
  writeOldWay(Object.fromEntries(names.map((name, place) => [name, texts[place]])));
};

const kindsOf = (element) => {
  const code = element.closest(".aia-code");
  if (code) return { [PLAIN]: code.querySelector("pre").textContent };
  const button = element.closest(".aia-end").querySelector("[data-url]");
  const text = markdown(button.dataset.url);
  if (element.dataset.copy) return { [PLAIN]: text };
  const copy = plainCopy(element.closest(".aia-msg"));
  return { [PLAIN]: text, [RICH]: new XMLSerializer().serializeToString(copy) };
};

// For those who cannot copy: what to copy by hand is selected.
const select = (element) => {
  const wanted = element.closest(".aia-code")?.querySelector("pre");
  const parts = wanted
    ? [wanted]
    : [...element.closest(".aia-msg").querySelectorAll(".aia-parts")];
  const last = parts.at(-1);
  getSelection().setBaseAndExtent(parts[0], 0, last, last.childNodes.length);
  notice(word("uncopied"));
};

export const use = async (element) => {
  try {
    await write(kindsOf(element));
  } catch {
    return select(element);
  }
  element.closest("[popover]")?.hidePopover();
  element.dataset.done = "";
  setTimeout(() => delete element.dataset.done, SHOWN_MS);
  say(word("copied"));
};

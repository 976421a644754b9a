// Copies a block of code, the link of a conversation, or an answer: formatted for what
// takes it so, and as Markdown for the rest.

import { say } from "./announce.js";
import { get } from "./fetching.js";
import { showNotice, translate } from "./root.js";

const PLAIN = "text/plain";
const RICH = "text/html";
const SHOWN_MS = 1500;
const PLAIN_TEXT = ".aia-code, #aia-share"; // around a <pre>
const NOT_OF_ANSWER = "button, .aia-lang, .aia-host";
const KEPT_ATTRIBUTES = ["href", "colspan", "rowspan", "start"];

/** @typedef {Record<string, string | Promise<string>>} Formats texts by type */

/**
 * Returns what a document or a mail can use: the answer's elements, without our own.
 *
 * @param {Element} article
 */
const plainCopy = (article) => {
  const copy = document.createElement("div");
  for (const block of article.querySelectorAll(".aia-body > .aia-b"))
    copy.append(...block.cloneNode(true).childNodes);
  for (const extra of copy.querySelectorAll(NOT_OF_ANSWER)) extra.remove();
  for (const link of copy.querySelectorAll("a")) link.setAttribute("href", link.href);
  for (const element of copy.querySelectorAll("*"))
    for (const { name } of [...element.attributes])
      if (!KEPT_ATTRIBUTES.includes(name)) element.removeAttribute(name);
  for (const box of copy.querySelectorAll("div, span"))
    box.replaceWith(...box.childNodes);
  return copy;
};

/** @param {string} url */
const fetchMarkdown = async (url) => {
  const response = await get(url);
  if (!response.ok || response.redirected) throw response.status;
  return response.text();
};

/** @param {Formats} formats */
const asBlobs = (formats) =>
  Object.fromEntries(
    Object.entries(formats).map(([type, text]) => [
      type,
      // A promise: the press of the button must not be long ago when this is called.
      Promise.resolve(text).then((loaded) => new Blob([loaded], { type }))
    ])
  );

/**
 * Copies the old way: plain http has no clipboard but this.
 *
 * @param {Record<string, string>} formats
 */
const writeByEvent = (formats) => {
  let isDone = false;
  /** @param {ClipboardEvent} event */
  const fill = (event) => {
    for (const [type, text] of Object.entries(formats))
      event.clipboardData.setData(type, text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isDone = true;
  };
  document.addEventListener("copy", fill, { capture: true, once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", fill, { capture: true });
  if (!isDone) throw new Error("no clipboard");
};

/** @param {Formats} formats */
const write = async (formats) => {
  if (navigator.clipboard && window.ClipboardItem)
    return navigator.clipboard.write([new ClipboardItem(asBlobs(formats))]);
  const texts = await Promise.all(Object.values(formats));
  const types = Object.keys(formats);
  writeByEvent(Object.fromEntries(types.map((type, n) => [type, texts[n]])));
};

/**
 * @param {HTMLElement} element
 * @returns {Formats}
 */
const formatsOf = (element) => {
  const code = element.closest(PLAIN_TEXT);
  if (code) return { [PLAIN]: code.querySelector("pre").textContent };
  /** @type {HTMLElement} */
  const button = element.closest(".aia-end").querySelector("[data-url]");
  const text = fetchMarkdown(button.dataset.url);
  if (element.dataset.copy) return { [PLAIN]: text };
  const copy = plainCopy(element.closest(".aia-msg"));
  return { [PLAIN]: text, [RICH]: new XMLSerializer().serializeToString(copy) };
};

/**
 * Selects what is to be copied by hand, where it cannot be by us.
 *
 * @param {HTMLElement} element
 */
const select = (element) => {
  const code = element.closest(PLAIN_TEXT)?.querySelector("pre");
  const parts = code
    ? [code]
    : [...element.closest(".aia-msg").querySelectorAll(".aia-parts")];
  const last = parts.at(-1);
  getSelection().setBaseAndExtent(parts[0], 0, last, last.childNodes.length);
  showNotice(translate("uncopied"));
};

/**
 * Lets the words of a button say that it is done; an icon has none.
 *
 * @param {HTMLElement} button
 */
const showCopied = (button) => {
  const label = /** @type {Text} */ (button.lastChild);
  const before = label.data;
  if (before === translate("copied")) return false;
  label.data = translate("copied");
  setTimeout(() => {
    label.data = before;
  }, SHOWN_MS);
  return true;
};

// --- what support needs to find a failed answer ---

/** @param {HTMLElement} button */
const copyDetails = async (button) => {
  const { run, code } = button.dataset;
  const article = button.closest(".aia-msg");
  const error = article?.querySelector(".aia-error")?.textContent.trim() ?? "";
  const now = new Date().toISOString();
  const lines = [
    `id: ${run}`,
    `code: ${code}`,
    `time: ${now}`,
    `page: ${location}`,
    error
  ];
  try {
    await navigator.clipboard.writeText(lines.join("\n"));
  } catch {
    return showNotice(`id: ${run}, code: ${code}`); // plain http has no clipboard
  }
  if (showCopied(button)) say(translate("copied"));
};

/** @param {HTMLElement} element */
export const use = async (element) => {
  if (element.dataset.run) return copyDetails(element);
  try {
    await write(formatsOf(element));
  } catch {
    return select(element);
  }
  /** @type {HTMLElement} */
  const menu = element.closest("[popover]");
  menu?.hidePopover();
  if (element.matches(".aia-go")) showCopied(element);
  element.dataset.done = "";
  setTimeout(() => delete element.dataset.done, SHOWN_MS);
  say(translate("copied"));
};

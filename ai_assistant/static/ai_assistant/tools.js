// Tools that the page carries out: our own two, and those that it registers.
// The server says what is wanted and takes one result; one tab gets the claim.
import { say } from "./announce.js";
import { isDirty } from "./changed.js";
import { byId, clone, isOpen, pagePath, post, root, tell as event } from "./root.js";
import { read, write } from "./store.js";

const GOING = "aia.going";
const SHOWN_MS = 6000;
const STAY_MS = 2000; // to say no before the page is left
const LATE_MS = 2000; // a page may register its tools a moment after the panel
const TRIES = 3;
const tab = `${Date.now()}.${Math.random()}`;
const seen = new Set();

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// --- the two ways up; each may be repeated ---

const tell = async (url, asked, more) => {
  const { interrupt, nonce } = asked;
  const path = pagePath();
  const values = { interrupt, nonce, tab: asked.tab ?? tab, path, ...more };
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await post(url, values);
      if (response.status < 500) return response.ok ? await response.json() : {};
    } catch {
      // the network is away for a moment
    }
    if (tries === TRIES) return {};
    await pause(1000 * tries);
  }
};

const claim = (asked) => tell(root.dataset.claim, asked);
const report = (asked, said, code = "", error = "") => {
  const value = JSON.stringify(said ?? null);
  return tell(root.dataset.result, asked, { value, code, error });
};

// --- our own ---

const UNSAVED = new Error("unsaved changes");
const STAYED = new Error("the person stays");
const CODES = new Map([
  [UNSAVED, "unsaved"],
  [STAYED, "stayed"]
]);

// Says which page is opened; true if the person wants to stay on this one.
const stays = async (title) => {
  if (!isOpen()) return false; // there is nothing to press
  const note = clone("aia-t-going");
  note.querySelector("b").textContent = title;
  byId("aia-notice").replaceChildren(note);
  say(note.firstElementChild.textContent);
  const pressed = new Promise((done) => (note.querySelector("button").onclick = done));
  const wish = await Promise.race([pressed, pause(STAY_MS)]);
  if (note.contains(document.activeElement)) byId("aia-input")?.focus();
  note.remove();
  return Boolean(wish);
};

const navigate = async ({ path, title }, asked) => {
  if (isDirty()) throw UNSAVED;
  const target = new URL(path, location.href);
  if (target.origin !== location.origin) throw new Error("not of this site");
  const to = target.pathname + target.search + target.hash;
  if (!event("before-navigate", { path: to }))
    throw new Error("the page did not let it go");
  if (await stays(title || to)) throw STAYED;
  if (isDirty()) throw UNSAVED; // typed in the meantime
  if (!(await claim(asked)).go) throw STAYED; // stopped in the meantime
  write("sessionStorage", GOING, JSON.stringify({ ...asked, tab }));
  location.assign(target);
  return new Promise(() => {}); // the new page reports
};

const point = (element, text) => {
  element.scrollIntoView({ block: "center" });
  element.classList.add("aia-highlight");
  const note = document.createElement("p");
  const { left, bottom } = element.getBoundingClientRect();
  note.className = "aia-highlight-note";
  note.textContent = text;
  note.style.left = `${left}px`;
  note.style.top = `${bottom + 8}px`;
  if (text) document.body.append(note);
  setTimeout(() => {
    element.classList.remove("aia-highlight");
    note.remove();
  }, SHOWN_MS);
};

const highlight = ({ selector, text = "" }) => {
  const [first, ...others] = document.querySelectorAll(selector);
  if (!first) return { found: false };
  point(first, text);
  event("highlight", { selector, text, element: first });
  if (text) say(text);
  return { found: true, elements: 1 + others.length };
};

// --- one request ---

const OWN = { navigate_to: navigate, highlight };

const registered = (name) => {
  const tool = root.tools?.get(name);
  return tool && (tool.available?.() ?? true) ? tool.handler : OWN[name];
};

const found = async (name) => {
  for (const end = Date.now() + LATE_MS; Date.now() < end; await pause(100))
    if (registered(name)) break;
  return registered(name);
};

// A listener that prevents the event carries the tool out itself, and responds.
const result = (asked, handler) =>
  new Promise((respond, fail) => {
    const { name, arguments: given } = asked;
    if (!event("tool", { name, arguments: given, respond, fail })) return;
    Promise.resolve(handler(given, asked)).then(respond, fail);
  });

const carryOut = async (asked, handler, lease) => {
  const beat = setInterval(claim, (lease * 1000) / 3, asked);
  try {
    await report(asked, await result(asked, handler));
  } catch (error) {
    await report(asked, null, CODES.get(error) ?? "failed", error?.message ?? error);
  } finally {
    clearInterval(beat);
  }
};

export const take = async (asked) => {
  if (seen.has(asked.interrupt)) return;
  seen.add(asked.interrupt);
  // The tab that the person looks at goes first.
  await pause(document.hidden ? 600 : document.hasFocus() ? 0 : 200);
  const handler = await found(asked.name);
  if (!handler) return document.hidden || report(asked, null, "missing");
  const { go, lease } = await claim(asked);
  if (go) await carryOut(asked, handler, lease);
};

// --- a page that was gone to ---

const texts = (selector) =>
  [...document.querySelectorAll(selector)]
    .filter((node) => !root.contains(node) && !node.closest("[data-aia-ignore]"))
    .map((node) => node.textContent.trim());

const landed = () => {
  let asked;
  try {
    asked = JSON.parse(read("sessionStorage", GOING));
  } catch {
    asked = null;
  }
  write("sessionStorage", GOING, "");
  if (!asked) return;
  const status = performance.getEntriesByType("navigation")[0]?.responseStatus;
  const shown = {
    title: document.title,
    messages: texts(".messagelist li"),
    errors: texts(".errornote, .errorlist li")
  };
  report(asked, shown, status >= 400 ? "failed" : "", `status ${status}`);
};
landed();

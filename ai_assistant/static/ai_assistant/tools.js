// Tools that the page carries out: our own, and those that it registers.
// The server says what is wanted and takes one result; one tab gets the claim.

import { say } from "./announce.js";
import { isDirty } from "./dirty.js";
import { post } from "./fetching.js";
import {
  byId,
  cloneTemplate,
  emit,
  isOpen,
  pagePath,
  root,
  translate
} from "./root.js";
import { read, write } from "./storage.js";

const GOING = "aia.going";
const STAY_MS = 2000; // to say no before the page is left
const LATE_MS = 2000; // a page may register its tools a moment after the panel
const TRIES = 3;
const tab = `${Date.now()}.${Math.random()}`;
/** @type {Set<string>} */
const seen = new Set();

/** @param {number} ms */
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// --- the two requests of a call; each may be repeated ---

/**
 * @param {string} url
 * @param {BrowserCall} call
 * @param {object} [more]
 * @returns {Promise<{ go?: boolean, lease?: number }>}
 */
const request = async (url, call, more) => {
  const { interrupt, nonce } = call;
  const path = pagePath();
  const values = { interrupt, nonce, tab: call.tab ?? tab, path, ...more };
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await post(url, values);
      if (response.status < 500) return response.ok ? await response.json() : {};
    } catch {
      // the network is away for a moment
    }
    if (tries === TRIES) return {};
    await sleep(1000 * tries);
  }
};

/** @param {BrowserCall} call */
const claim = (call) => request(root.dataset.claim, call);

/**
 * @param {BrowserCall} call
 * @param {unknown} value
 */
const report = (call, value, code = "", error = "") =>
  request(root.dataset.result, call, {
    value: JSON.stringify(value ?? null),
    code,
    error
  });

// --- our own ---

const UNSAVED = new Error("unsaved changes");
const STAYED = new Error("the person stays");
const CODES = new Map([
  [UNSAVED, "unsaved"],
  [STAYED, "stayed"]
]);

/**
 * Says which page is about to be opened; returns whether the person wants to stay.
 *
 * @param {string} title
 */
const wantsToStay = async (title) => {
  if (!isOpen()) return false; // there is nothing to press
  const note = cloneTemplate("aia-t-going");
  note.querySelector("b").textContent = title;
  byId("aia-notice").replaceChildren(note);
  const [text, left] = note.querySelectorAll("span");
  say(text.textContent);
  const end = Date.now() + STAY_MS;
  const count = () => {
    left.textContent = translate("seconds", Math.ceil((end - Date.now()) / 1000));
  };
  count();
  const counting = setInterval(count, 200);
  const pressed = new Promise((done) => {
    note.querySelector("button").onclick = done;
  });
  const answer = await Promise.race([pressed, sleep(STAY_MS)]);
  clearInterval(counting);
  if (note.contains(document.activeElement)) byId("aia-input")?.focus();
  note.remove();
  return Boolean(answer);
};

/**
 * Leaves the way there to the person: what they entered would be lost.
 *
 * @param {string} href
 */
const offerTab = async (href) => {
  if (isOpen()) (await import("./links.js")).offerTab(href);
  throw UNSAVED;
};

/**
 * @param {{ path: string, title?: string }} values
 * @param {BrowserCall} call
 */
const navigate = async ({ path, title }, call) => {
  const target = new URL(path, location.href);
  if (target.origin !== location.origin) throw new Error("not of this site");
  if (isDirty()) return offerTab(target.href);
  const to = target.pathname + target.search + target.hash;
  if (!emit("before-navigate", { path: to }))
    throw new Error("the page did not let it go");
  // Who goes elsewhere meanwhile has decided; the page there says so.
  const leave = () =>
    write("sessionStorage", GOING, JSON.stringify({ ...call, tab, left: true }));
  addEventListener("pagehide", leave);
  const stays = await wantsToStay(title || to);
  removeEventListener("pagehide", leave);
  if (stays) throw STAYED;
  if (isDirty()) return offerTab(target.href); // typed in the meantime
  if (!(await claim(call)).go) throw STAYED; // stopped in the meantime
  write("sessionStorage", GOING, JSON.stringify({ ...call, tab }));
  location.assign(target);
  return new Promise(() => {}); // the new page reports
};

/**
 * @param {any} values
 * @param {BrowserCall} call
 */
const act = async (values, call) => {
  // What is left for another page is reported by that.
  const keep = () =>
    write("sessionStorage", GOING, JSON.stringify({ ...call, arguments: null, tab }));
  addEventListener("pagehide", keep);
  try {
    const mayGoOn = async () => Boolean((await claim(call)).go);
    return await (await import("./page_action.js")).pageAction(values, mayGoOn);
  } finally {
    removeEventListener("pagehide", keep);
  }
};

// --- one call ---

/** @type {Record<string, PageTool["handler"]>} */
const BUILT_IN = {
  navigate_to: navigate,
  highlight: async (values) => (await import("./highlight.js")).highlight(values),
  show_tour: async (values) => (await import("./tour.js")).startTour(values),
  get_page_state: async ({ mode, ref }) =>
    mode || ref
      ? (await import("./outline.js")).outlineAt(ref)
      : (await import("./page_state.js")).pageState(),
  page_action: act,
  fill_form: async (values) =>
    values.fields
      ? (await import("./fill.js")).fillForm(values)
      : (await import("./page_forms.js")).fillPage(values)
};

/** @param {string} name */
const registered = (name) => {
  const tool = root.tools?.get(name);
  return tool && (tool.available?.() ?? true) ? tool.handler : BUILT_IN[name];
};

/** @param {string} name */
const findTool = async (name) => {
  for (const end = Date.now() + LATE_MS; Date.now() < end; await sleep(100))
    if (registered(name)) break;
  return registered(name);
};

/**
 * Returns the result of a tool. A listener that prevents the event carries it out
 * itself, and responds.
 *
 * @param {BrowserCall} call
 * @param {PageTool["handler"]} tool
 */
const resultOf = (call, tool) =>
  new Promise((respond, fail) => {
    const { name, arguments: values } = call;
    if (!emit("tool", { name, arguments: values, respond, fail })) return;
    Promise.resolve(tool(values, call)).then(respond, fail);
  });

/**
 * @param {BrowserCall} call
 * @param {PageTool["handler"]} tool
 * @param {number} lease in seconds
 */
const carryOut = async (call, tool, lease) => {
  const heartbeat = setInterval(claim, (lease * 1000) / 3, call);
  try {
    await report(call, await resultOf(call, tool));
  } catch (reason) {
    const error = /** @type {any} */ (reason);
    await report(call, null, CODES.get(error) ?? "failed", error?.message ?? error);
  } finally {
    clearInterval(heartbeat);
  }
};

/** @param {BrowserCall} call */
export const onCall = async (call) => {
  if (seen.has(call.interrupt)) return;
  seen.add(call.interrupt);
  // The tab that the person looks at goes first.
  await sleep(document.hidden ? 600 : document.hasFocus() ? 0 : 200);
  const tool = await findTool(call.name);
  if (!tool) return document.hidden || report(call, null, "missing");
  const { go, lease } = await claim(call);
  if (go) await carryOut(call, tool, lease);
};

// --- a page that was gone to ---

/** @param {string} selector */
const texts = (selector) =>
  [...document.querySelectorAll(selector)]
    .filter((node) => !root.contains(node) && !node.closest("[data-aia-ignore]"))
    .map((node) => node.textContent.trim());

const reportArrival = () => {
  /** @type {BrowserCall | null} */
  let call;
  try {
    call = JSON.parse(read("sessionStorage", GOING));
  } catch {
    call = null;
  }
  write("sessionStorage", GOING, "");
  if (!call) return;
  if (call.left) {
    report(call, null, "left");
    return;
  }
  const [entry] = /** @type {PerformanceNavigationTiming[]} */ (
    performance.getEntriesByType("navigation")
  );
  const status = entry?.responseStatus;
  const page = {
    title: document.title,
    messages: texts(".messagelist li"),
    errors: texts(".errornote, .errorlist li")
  };
  report(call, page, status >= 400 ? "failed" : "", `status ${status}`);
};
reportArrival();
if (read("sessionStorage", "aia.tour")) import("./tour.js");

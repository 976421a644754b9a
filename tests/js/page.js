// A page in Node for the modules of the panel: they look for its elements when they
// are imported, so a test opens the page first. One file of tests has one page.

import { Window } from "happy-dom";

const MODULES = "../../ai_assistant/static/ai_assistant/";
const STRINGS = `<div id="aia-strings" data-left="%s left" data-over="%s over"
  data-long="%s too many" data-private="kept private" data-stale="Reload."
  data-refused="Refused." data-held="Held." data-again="Again in %s"
  data-rows="%s rows" data-rows-are="Ticked rows" data-fields="%s fields"
  data-fields-are="Unsaved" data-inlines="%s parts" data-inlines-are="Parts"
  data-selection="Selection" data-selection-are="Selected"></div>`;

/** What was asked of the server: `answer` is called for each request. */
export const server = {
  requests: [],
  body: null, // of the last one
  answer: () => new Response(null, { status: 204 })
};

const onFetch = async (url, { method = "GET", body } = {}) => {
  const request = { url: `${url}`, method, values: Object.fromEntries(body ?? []) };
  server.requests.push(request);
  server.body = body;
  return server.answer(request);
};

/** What htmx looks for hx-on with, which happy-dom lacks. */
class NoXPath {
  createExpression() {
    return { evaluate: () => ({ iterateNext: () => null }) };
  }
}

/** Lets promises and timers that are due run, in as many turns as it takes ms. */
export const settle = async (ms = 0) => {
  for (let turn = 0; turn <= ms; turn += 1)
    await new Promise((done) => setTimeout(done, turn && 1));
};

/** Waits for what another thread brings; fails after twenty seconds. */
export const until = async (isTrue) => {
  for (const end = Date.now() + 20_000; !isTrue(); await settle(5))
    if (Date.now() > end) throw new Error(`It never became true: ${isTrue}`);
};

/** Opens a page with the panel; `inner` stands in it, `page` beside it. */
export const openPage = (inner = "", page = "", attributes = "") => {
  const window = new Window({ url: "https://site.example/admin/shop/order/?q=1" });
  const { document } = window;
  document.write(`<!doctype html><html lang="en"><body>${page}
    <aside id="aia" data-open data-state="idle" data-mode="dock" data-user="kim"
      data-conversation="c1" data-run="r1" data-seq="4" data-w="400" ${attributes}>
      <div id="aia-inner" data-now="0">${STRINGS}<div id="aia-notice"></div>
      <div id="aia-alert"></div><div id="aia-say"></div>${inner}</div>
    </aside></body></html>`);
  const root = document.getElementById("aia");
  Object.assign(root, { path: "/admin/shop/order/?q=1", items: new Map() });
  Object.assign(root, { tools: new Map() });
  for (const name of Object.getOwnPropertyNames(window))
    if (!(name in globalThis) || /^[A-Z].*(Event|Target|Data)$|^Event$/.test(name))
      Object.defineProperty(globalThis, name, {
        value: window[name],
        configurable: true,
        writable: true
      });
  for (const name of ["addEventListener", "removeEventListener", "getComputedStyle"])
    globalThis[name] = window[name].bind(window);
  for (const name of ["localStorage", "sessionStorage", "location", "navigator"])
    Object.defineProperty(globalThis, name, {
      get: () => window[name],
      configurable: true
    });
  // What ticks for ever must not keep the tests alive.
  const { setInterval } = globalThis;
  globalThis.setInterval = (...values) => setInterval(...values).unref();
  globalThis.window = window;
  globalThis.fetch = window.fetch = onFetch;
  globalThis.XPathEvaluator = NoXPath;
  globalThis.requestAnimationFrame = (draw) => setTimeout(draw, 0);
  globalThis.cancelAnimationFrame = clearTimeout;
  return { window, document, root };
};

/** Imports a module of the panel, once there is a page; anew for each `copy`. */
export const load = (name, copy = "") => import(`${MODULES}${name}.js?${copy}`);

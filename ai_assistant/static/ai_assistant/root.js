// The panel's root element and the few things that every module asks of it.
export const root = document.getElementById("aia");

export const byId = (id) => document.getElementById(id);

export const pagePath = () => location.pathname + location.search;

export const isOpen = () => "open" in root.dataset;

export const word = (name, value) =>
  (byId("aia-strings")?.dataset[name] ?? "").replace("%s", value ?? "");

export const tell = (name, detail) =>
  root.dispatchEvent(
    new CustomEvent(`aia:${name}`, { bubbles: true, cancelable: true, detail })
  );

export const clone = (id) => byId(id).content.cloneNode(true).firstElementChild;

export const notice = (text) => {
  const line = document.createElement("p");
  line.className = "aia-note";
  line.textContent = text;
  byId("aia-notice")?.replaceChildren(...(text ? [line] : []));
};

// Asks the server for a fragment or for frames, and says who asks: without the
// header it would answer with a whole page.
export const ask = (url, values) => {
  const query = values ? `?${new URLSearchParams(values)}` : "";
  return fetch(url + query, {
    headers: { "HX-Request": "true" },
    cache: "no-store",
    signal: AbortSignal.timeout(15_000)
  });
};

const KEEPALIVE_BYTES = 60_000; // more than this a browser refuses
const TOKEN = "[name=csrfmiddlewaretoken]";
export const tokenField = () =>
  root.querySelector(TOKEN) ?? document.querySelector(TOKEN);

// Outlives the page, unless it is too long for that.
export const post = (url, values) => {
  const token = tokenField()?.value ?? "";
  const body = new URLSearchParams({ ...values, csrfmiddlewaretoken: token });
  return fetch(url, {
    method: "POST",
    body,
    keepalive: `${body}`.length < KEEPALIVE_BYTES,
    headers: { "X-CSRFToken": token, "HX-Request": "true" },
    signal: AbortSignal.timeout(20_000)
  });
};

// What most visits never need is loaded at the first wish, or at the next one if
// that failed.
export const lazily = (load) => {
  let loading;
  return () => (loading ??= load().catch(() => (loading = undefined)));
};

// A login page that a redirect led to is not an answer of ours.
export const signedOut = (response) => response.status === 401 || response.redirected;

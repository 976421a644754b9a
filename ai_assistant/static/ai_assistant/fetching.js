// What is asked of the server without htmx: what is no HTML, or must outlive the page.

import { csrfField } from "./root.js";

/**
 * Gets what is no HTML of the panel. Without the header a refusal would be a whole page.
 *
 * @param {string} url
 * @param {Record<string, string>} [values] of the query
 */
export const get = (url, values) => {
  const query = values ? `?${new URLSearchParams(values)}` : "";
  return fetch(url + query, {
    headers: { "HX-Request": "true" },
    cache: "no-store",
    signal: AbortSignal.timeout(15_000)
  });
};

/**
 * Gets a page of the site as a browser does.
 *
 * @param {string} url
 */
export const getPage = (url) =>
  fetch(url, { cache: "no-store", signal: AbortSignal.timeout(15_000) });

const KEEPALIVE_BYTES = 60_000; // more than this a browser refuses
/**
 * Posts a form; the request outlives the page, unless it is too long for that.
 *
 * @param {string} url
 * @param {Record<string, any>} values
 */
export const post = (url, values) => {
  const token = csrfField()?.value ?? "";
  const body = new URLSearchParams({ csrfmiddlewaretoken: token });
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) body.append(name, one);
  return fetch(url, {
    method: "POST",
    body,
    keepalive: `${body}`.length < KEEPALIVE_BYTES,
    headers: { "X-CSRFToken": token, "HX-Request": "true" },
    signal: AbortSignal.timeout(20_000)
  });
};

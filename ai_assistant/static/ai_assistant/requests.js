// Requests for HTML: what they are is an attribute of a template. Here htmx is loaded,
// which sends them, together with what applies frames.

import { lazy } from "./root.js";

/** Loads htmx, which then processes what the panel has by then. */
export const startHtmx = lazy(() => import("./frames.js"));

/**
 * Sends the request that an element's attributes describe for the event `aia:use`;
 * resolves to its context once all is drawn. Without htmx there is none.
 *
 * @param {HTMLElement} element
 * @param {Record<string, string>} [values] that only the page knows
 * @param {() => unknown} [before] called before it is drawn; false keeps it from that
 * @param {HTMLAnchorElement} [link] whose page is asked for, and drawn below it
 * @returns {Promise<Partial<RequestContext>>}
 */
export const request = async (element, values, before, link) => {
  await startHtmx();
  if (!element.dataset.htmxPowered) return {};
  return new Promise((done) => {
    const detail = { values, before, done, link };
    element.dispatchEvent(new CustomEvent("aia:use", { detail }));
  });
};

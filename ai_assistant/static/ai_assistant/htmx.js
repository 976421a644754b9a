// The panel's own htmx, whatever the page brings. It knows the panel only, and
// evaluates nothing.

import { restorePage } from "./htmx_config.js";
import { policy, root, showNotice } from "./root.js";
import htmx from "./vendor/htmx.esm.min.js";

restorePage();
// It would look for its attributes in the whole page.
htmx.initialize = () => {};

/** Stands for Function: no attribute is code. */
class Refused {
  constructor() {
    throw new Error("The panel evaluates no attribute.");
  }
}

/**
 * Tells whether what a request has brought is for the panel. A refusal has its own
 * place, whatever its status; a page that failed, or that asks who is there, has none.
 *
 * @param {Element} _element
 * @param {{ ctx: { response?: { raw: Response } } }} detail
 */
const isDrawn = (_element, { ctx }) => {
  const { ok, headers, redirected } = ctx.response?.raw ?? Response.json({});
  if ((ok && !redirected) || headers.has("HX-Retarget")) return true;
  showNotice(root.dataset.failed);
  return false;
};

htmx.registerExtension("ai-assistant", {
  /** @param {import('./vendor/htmx.esm.min.js').InternalApi} api */
  init: (api) => api.initSecurity(policy, Refused, Refused),
  htmx_before_swap: isDrawn
});
htmx.process(root);

/**
 * Makes the attributes of new elements work.
 *
 * @param {Element} element
 */
export const process = (element) => htmx.process(element);

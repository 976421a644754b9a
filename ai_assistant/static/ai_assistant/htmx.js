// The panel's own htmx, whatever the page brings. It knows the panel only, and
// evaluates nothing.

import { restorePage } from "./htmx_config.js";
import {
  byId,
  emit,
  isSignedOut,
  policy,
  root,
  showNotice,
  translate
} from "./root.js";
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

// --- a request, as request() of frames.js has asked for it ---

/**
 * @param {RequestContext} ctx
 * @returns {Wish} of who asked; nothing of a click
 */
const wishOf = ({ sourceEvent }) =>
  sourceEvent?.type === "aia:use" ? sourceEvent.detail : {};

/**
 * Adds what only the page knows. The composer's fields go to those who send messages.
 *
 * @param {Element} element
 * @param {{ ctx: RequestContext }} detail
 */
const onRequest = (element, { ctx }) => {
  const { body } = ctx.request;
  for (const [name, value] of Object.entries(wishOf(ctx).values ?? {}))
    body.set(name, value);
  if (element.id !== "aia-form") return true;
  emit("collected", body);
  return false;
};

/**
 * Says why nothing is drawn, unless who asked does so.
 *
 * @param {RequestContext} ctx
 */
const showFailure = (ctx) => {
  const isAsked = Boolean(wishOf(ctx).done);
  if (ctx.request.method === "GET") return isAsked || showNotice(root.dataset.failed);
  if (ctx.response?.status === 403) return showNotice(translate("stale"));
  showNotice(isAsked ? translate("refused") : root.dataset.failed);
};

/**
 * Tells whether what came is for the panel. A refusal has its own place, whatever its
 * status; a page that failed, or that asks who is there, has none.
 *
 * @param {Element} _element
 * @param {{ ctx: RequestContext }} detail
 */
const isDrawn = (_element, { ctx }) => {
  const { raw } = ctx.response;
  if (isSignedOut(raw)) emit("signed-out");
  else if (raw.headers.has("HX-Retarget") || raw.ok)
    return wishOf(ctx).before?.() !== false;
  else showFailure(ctx);
  return false;
};

/**
 * @param {Element} _element
 * @param {{ ctx: RequestContext }} detail
 */
const onSwapped = (_element, { ctx }) => {
  ctx.isDrawn = !ctx.hx.retarget;
};

/**
 * @param {Element} _element
 * @param {{ ctx?: RequestContext }} detail
 */
const onError = (_element, { ctx }) => {
  if (ctx && !ctx.response && !ctx.request.signal.aborted) showFailure(ctx);
};

/**
 * @param {Element} _element
 * @param {{ ctx: RequestContext }} detail
 */
const onEnd = (_element, { ctx }) => wishOf(ctx).done?.(ctx);

// --- where the answer goes, besides the ways of htmx itself ---

/**
 * Draws above, without moving what the reader looks at.
 *
 * @param {Element} holder
 * @param {Node} fragment
 */
const drawEarlier = (holder, fragment) => {
  const box = byId("aia-scroll");
  const mark = holder.nextElementSibling ?? holder;
  const before = mark.getBoundingClientRect().top;
  box.style.overflowAnchor = "none"; // else a browser does the same once more
  holder.replaceChildren(fragment);
  box.scrollTop += mark.getBoundingClientRect().top - before;
  requestAnimationFrame(() => {
    box.style.overflowAnchor = "";
  });
};

/** @type {Record<string, (target: Element, fragment: Node) => void>} */
const swaps = {
  earlier: drawEarlier,
  // The whole panel: another conversation, or the first one.
  panel: (_target, fragment) => {
    byId("aia-inner")?.remove();
    root.prepend(fragment);
  }
};

htmx.registerExtension("ai-assistant", {
  /** @param {import("./vendor/htmx.esm.min.js").InternalApi} api */
  init: (api) => api.initSecurity(policy, Refused, Refused),
  htmx_config_request: onRequest,
  htmx_before_swap: isDrawn,
  htmx_after_swap: onSwapped,
  htmx_error: onError,
  htmx_finally_request: onEnd,
  /**
   * @param {string} style
   * @param {Element} target
   * @param {DocumentFragment} fragment
   */
  handle_swap: (style, target, fragment) => {
    swaps[style]?.(target, fragment);
    return style in swaps;
  }
});
htmx.process(root);

/**
 * Makes the attributes of new elements work.
 *
 * @param {Element} element
 */
export const process = (element) => htmx.process(element);

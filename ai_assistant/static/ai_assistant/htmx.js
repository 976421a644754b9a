// The panel's own htmx, whatever the page brings. It knows the panel only, and
// evaluates nothing.

import { restorePage } from "./htmx_config.js";
import {
  byId,
  csrfField,
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

// --- a request, as request() of requests.js has asked for it ---

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
  const { link, values } = wishOf(ctx);
  for (const [name, value] of Object.entries(values ?? {})) body.set(name, value);
  if (link) {
    ctx.request.action = link.href;
    ctx.target = link.closest("[id]");
  }
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
 * Gives new forms the token that only a page knows, where its own forms have it.
 *
 * @param {{ fragment: DocumentFragment }} task
 */
const addTokens = ({ fragment }) => {
  const token = csrfField();
  for (const form of fragment.querySelectorAll("form"))
    if (token && form.method === "post" && !form.elements.namedItem(token.name))
      form.prepend(token.cloneNode());
};

/**
 * Tells whether what came is for the panel. A refusal has its own place, whatever its
 * status; a page that failed, or that asks who is there, has none.
 *
 * @param {Element} _element
 * @param {{ ctx: RequestContext, tasks: { fragment: DocumentFragment }[] }} detail
 */
const isDrawn = (_element, { ctx, tasks }) => {
  tasks.forEach(addTokens);
  if (!ctx.response) return true; // a frame
  const { raw } = ctx.response;
  if (isSignedOut(raw)) emit("signed-out");
  else if (raw.headers.has("HX-Retarget") || raw.ok)
    return wishOf(ctx).before?.() !== false;
  else showFailure(ctx);
  return false;
};

/** @type {any} */
let asker = null; // the element that has asked for what is pinned

/**
 * Gives the focus to a plan that was asked for, and back where it goes.
 *
 * @param {any} element
 * @param {{ ctx: RequestContext }} detail
 */
const onSwapped = (element, { ctx }) => {
  ctx.isDrawn = !ctx.hx?.retarget;
  if (ctx.target?.id === "aia-pinned") asker = element;
  else if (!element.closest(".aia-undo-plan")) return;
  const heir = asker?.isConnected ? asker : byId("aia-scroll");
  (byId("aia-undo-plan") ?? heir)?.focus();
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

/**
 * Adds elements at the end; one that is there already becomes as the new one is.
 *
 * @param {Element} parent
 * @param {DocumentFragment} fragment
 */
const upsert = (parent, fragment) =>
  [...fragment.children].map((fresh) => {
    const { id } = fresh;
    const old = id && byId(id);
    const box = new DocumentFragment();
    box.append(fresh);
    if (old) api.morph(old, box, false);
    else parent.append(box);
    return old ? byId(id) : fresh;
  });

/** @type {Record<string, (target: Element, fragment: DocumentFragment) => unknown>} */
const swaps = {
  earlier: drawEarlier,
  upsert,
  // The whole panel: another conversation, or the first one.
  panel: (_target, fragment) => {
    byId("aia-inner")?.remove();
    root.prepend(fragment);
  }
};

// --- what a person did to an element stays when it becomes another ---

/** @param {any} field */
const isChanged = (field) =>
  field.matches("input, textarea") && field.value !== field.defaultValue;

/**
 * @param {any} element
 * @param {{ attrName: string }} detail
 */
const isMorphed = (element, { attrName }) => {
  if (attrName === "open") return !element.dataset.touched;
  if (attrName === "value") return !isChanged(element);
  return attrName !== "data-touched" && attrName !== "style";
};

/** @type {import("./vendor/htmx.esm.min.js").InternalApi} */
let api;

htmx.registerExtension("ai-assistant", {
  /** @param {import("./vendor/htmx.esm.min.js").InternalApi} internal */
  init: (internal) => {
    api = internal;
    api.initSecurity(policy, Refused, Refused);
  },
  htmx_before_morph_attr: isMorphed,
  /** @param {Element} element */
  htmx_before_morph_node: (element) =>
    !(element.matches?.("textarea") && isChanged(element)),
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
  handle_swap: (style, target, fragment) =>
    style in swaps && (swaps[style](target, fragment) ?? true)
});
htmx.process(root);

/**
 * Swaps the parts of a frame, each into its target.
 *
 * @param {string} text
 */
export const swap = (text) =>
  htmx
    .swap({ text, sourceElement: root, target: root, swap: "none" })
    .catch((error) => console.error("aia", error));

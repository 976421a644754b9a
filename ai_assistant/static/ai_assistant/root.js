// The panel's root element and the few things that every module asks of it.

export const root = document.getElementById("aia");

const makePolicy = () => {
  /** @type {TrustedPolicy} */
  const rules = { createHTML: (html) => html, createScript: () => "" };
  try {
    return window.trustedTypes?.createPolicy("ai-assistant", rules) ?? rules;
  } catch {
    return rules; // the site allows no policy of this name, or has it already
  }
};
/** Of Trusted Types. What is drawn has no scripts. */
export const policy = makePolicy();

/**
 * @template {string} K
 * @param {K} id
 * @returns {K extends keyof PanelElements ? PanelElements[K] : HTMLElement}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

export const pagePath = () => location.pathname + location.search;

export const isOpen = () => "open" in root.dataset;

/**
 * Returns a sentence of the panel in the person's language.
 *
 * @param {string} name
 * @param {string | number} [value] stands for its placeholder
 */
export const translate = (name, value) =>
  (byId("aia-strings")?.dataset[name] ?? "").replace("%s", `${value ?? ""}`);

/**
 * Dispatches `aia:name`; returns whether no listener has prevented it.
 *
 * @param {string} name
 * @param {unknown} [detail]
 */
export const emit = (name, detail) =>
  root.dispatchEvent(
    new CustomEvent(`aia:${name}`, { bubbles: true, cancelable: true, detail })
  );

/**
 * Returns a copy of what a `<template>` holds.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export const cloneTemplate = (id) =>
  /** @type {any} */ (byId(id)).content.cloneNode(true).firstElementChild;

/** @param {string} text none takes the notice away */
export const showNotice = (text) => {
  const line = document.createElement("p");
  line.className = "aia-note";
  line.textContent = text;
  byId("aia-notice")?.replaceChildren(...(text ? [line] : []));
};

const CSRF_FIELD = "[name=csrfmiddlewaretoken]";

/** @returns {HTMLInputElement} */
export const csrfField = () =>
  root.querySelector(CSRF_FIELD) ?? document.querySelector(CSRF_FIELD);

/**
 * Returns a function that imports a module at its first call, and again at the next
 * one if that failed. It resolves to nothing then.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @returns {() => Promise<T | undefined>}
 */
export const lazy = (load) => {
  /** @type {Promise<T> | undefined} */
  let loading;
  return () =>
    (loading ??= load().catch(() => /** @type {undefined} */ ((loading = undefined))));
};

/**
 * Tells whether the server did not know who asks: a redirect led to a login page.
 *
 * @param {Response} response
 */
export const isSignedOut = (response) => response.status === 401 || response.redirected;

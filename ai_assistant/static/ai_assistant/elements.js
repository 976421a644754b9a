// Asks an element itself: a form is hidden by its inputs where they have the name of what
// is asked, as `matches` or `elements`.

/**
 * Returns what answers for an element as if no input of it had a name. It stands for the
 * element where that is asked, not where it is handed on.
 *
 * @param {any} element
 * @returns {any}
 */
export const bare = (element) =>
  element instanceof HTMLFormElement
    ? new Proxy(element, {
        get: (form, name) => {
          const found = Reflect.get(HTMLFormElement.prototype, name, form);
          return typeof found === "function" ? found.bind(form) : found;
        }
      })
    : element;

/**
 * Returns the element around another one, across slots and open shadow roots.
 *
 * @param {any} element
 * @returns {Element | null}
 */
export const around = (element) => {
  const one = bare(element);
  const scope = one.getRootNode();
  const host = scope instanceof ShadowRoot ? scope.host : null;
  return one.assignedSlot ?? one.parentElement ?? host;
};

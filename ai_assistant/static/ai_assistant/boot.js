// All that a page with a closed panel loads: it waits for a wish to open.
(() => {
  const root = document.getElementById("aia");
  if (!root || window.AIAssistant) return;
  root.path = location.pathname + location.search; // that the panel was drawn for
  /**
   * Keeps a message until the panel has taken it: else the next page sends it.
   * Returns what is on its way, if anything is.
   *
   * @param {any} [item] its form, or its values
   */
  const keep = (item) => {
    try {
      if (item)
        sessionStorage["aia.said"] = [
          sessionStorage["aia.said"],
          new URLSearchParams(item)
        ];
      return (
        sessionStorage["aia.said"] ||
        sessionStorage["aia.pending"] ||
        sessionStorage["aia.going"]
      );
    } catch {
      // storage is off: nothing can be pending
    }
  };
  /** @param {string} name of a function of panel.js */
  const call = (name) => (/** @type {any} */ text) => {
    if (name === "send") keep({ text, path: root.path });
    return import(root.dataset.src).then(
      (panel) => panel[name]?.(text),
      (error) => {
        (document.getElementById("aia-launcher") ?? root).dataset.trouble =
          root.dataset.failed;
        throw error;
      }
    );
  };
  /**
   * For nobody who could catch what went wrong: the launcher has said it.
   *
   * @param {string} [name]
   * @param {unknown} [text]
   */
  const run = (name, text) => call(name)(text).catch(() => {});
  /**
   * What the page registers waits here: the panel reads it when there is one.
   *
   * @param {"items" | "tools"} name
   */
  const map = (name) => {
    const items = (root[name] = new Map());
    /** @type {(done?: unknown) => boolean} once it is */
    const emit = () => root.dispatchEvent(new Event(`aia:${name}`));
    return (/** @type {string} */ id, /** @type {any} */ item) => {
      emit(items.set(id, item));
      return () => items.get(id) === item && emit(items.delete(id));
    };
  };
  window.AIAssistant = {
    context: map("items"),
    registerTool: map("tools"),
    send: call("send"),
    close: call("close"),
    open: call("open"),
    undo: call("undo"),
    on(name, listener) {
      root.addEventListener(`aia:${name}`, listener);
      return () => root.removeEventListener(`aia:${name}`, listener);
    }
  };
  // A message may be sent before there is a script: its text is no draft then.
  addEventListener("submit", (/** @type {any} */ event) => {
    if (event.target.id === "aia-form" && !event.defaultPrevented)
      keep((root.sent = new FormData(event.target)));
  });
  addEventListener("click", (/** @type {any} */ event) => {
    const link = event.target.closest("[data-aia-open],[data-aia-ask]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    run(link.dataset.aiaAsk ? "send" : "open", link.dataset.aiaAsk || link);
  });
  // The site's shortcuts; a keyCode follows the letters of the keyboard.
  addEventListener("keydown", (event) => {
    const press = [
      event.ctrlKey || event.metaKey,
      event.shiftKey,
      event.altKey,
      event.keyCode
    ];
    if (event.repeat || !` ${root.dataset.keys} `.includes(` ${press} `)) return;
    event.preventDefault();
    run("toggle");
  });
  if ((root.left = keep()) || root.dataset.load) run();
})();

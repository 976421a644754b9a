// All that a page with a closed panel loads: it waits for a wish to open.
(() => {
  "use strict";
  const root = document.getElementById("aia");
  if (!root || window.AIAssistant) return;
  root.path = location.pathname + location.search; // that the panel was drawn for
  let loading;
  const load = () =>
    (loading ??= import(root.dataset.src).catch((error) => {
      loading = undefined;
      const launcher = document.getElementById("aia-launcher");
      if (launcher) launcher.dataset.trouble = root.dataset.failed;
      throw error;
    }));
  const call = (name) => (value) => load().then((panel) => panel[name](value));
  // For nobody who could catch what went wrong: the launcher has said it.
  const wish = (name, value) => load().then((panel) => panel[name]?.(value), () => {});
  // What the page registers waits here: the panel reads it when there is one.
  const kept = (name) => {
    const map = (root[name] = new Map());
    return (id, item) => {
      map.set(id, item);
      root.dispatchEvent(new Event(`aia:${name}`));
      return () => {
        if (map.get(id) !== item) return;
        map.delete(id);
        root.dispatchEvent(new Event(`aia:${name}`));
      };
    };
  };
  window.AIAssistant = {
    open: call("open"),
    close: call("close"),
    send: call("send"),
    context: kept("items"),
    registerTool: kept("tools"),
    on(name, listener) {
      root.addEventListener(`aia:${name}`, listener);
      return () => root.removeEventListener(`aia:${name}`, listener);
    },
  };
  // A message may be sent before there is a script: its text is no draft then.
  document.addEventListener("submit", ({ target, defaultPrevented }) => {
    if (target.id === "aia-form" && !defaultPrevented) root.sent = true;
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-aia-open],[data-aia-ask]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { aiaAsk } = link.dataset;
    wish(aiaAsk ? "send" : "open", aiaAsk || link);
  });
  // The site's shortcuts; a keyCode follows the letters of the keyboard.
  document.addEventListener("keydown", (event) => {
    const held = (event.ctrlKey || event.metaKey) * 4 + event.altKey * 2 + event.shiftKey;
    const signs = root.dataset.keys?.split(" ");
    if (event.repeat || !signs?.includes(`${held}.${event.keyCode}`)) return;
    event.preventDefault();
    wish("toggle");
  });
  let pending;
  try {
    pending = sessionStorage["aia.pending"] || sessionStorage["aia.going"];
  } catch {
    // storage is off: nothing can be pending
  }
  if ("open" in root.dataset || pending) wish();
})();

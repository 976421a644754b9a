/* The form of a module: say at once what its fields are for, and name icons. */

(() => {
  const WAIT_MS = 300;

  const field = (name) =>
    document.getElementById(`id_${name}`)?.value ??
    document.querySelector(`.field-${name} .readonly`)?.textContent.trim() ??
    "";

  /* What stands in the right list of Django's widget, or is chosen in the plain one. */
  const chosen = (name) => {
    const right = document.getElementById(`id_${name}_to`);
    const plain = document.getElementById(`id_${name}`);
    return [...(right?.options ?? plain?.selectedOptions ?? [])].map(
      (one) => one.value
    );
  };

  /* Move the box below its fields; return what asks for its words anew. */
  const keep = (box, fieldset, query) => {
    fieldset?.append(box);
    let timer = 0;
    let last = 0;
    let asked = String(query());
    const ask = async () => {
      const wanted = String(query());
      if (wanted === asked) return;
      asked = wanted;
      const mine = ++last;
      const answer = await fetch(`${box.dataset.triesAt}?${wanted}`);
      if (!answer.ok || mine !== last) return;
      const found = new DOMParser()
        .parseFromString(await answer.text(), "text/html")
        .querySelector(".aia-pages");
      const shown = box.querySelector(".aia-pages");
      if (found && shown) shown.replaceChildren(...found.childNodes);
    };
    return () => {
      clearTimeout(timer);
      timer = setTimeout(ask, WAIT_MS);
    };
  };

  const keepPages = () => {
    const box = document.getElementById("aia-module-pages");
    const pages = document.getElementById("id_pages");
    if (!box?.dataset.triesAt || !pages) return;
    const names = ["name", "pages", "priority"];
    const query = () => new URLSearchParams(names.map((name) => [name, field(name)]));
    const soon = keep(box, pages.closest("fieldset"), query);
    for (const name of names) {
      document.getElementById(`id_${name}`)?.addEventListener("input", soon);
    }
  };

  const keepOperations = () => {
    const box = document.getElementById("aia-module-operations");
    const row = document.querySelector(".field-api_operations");
    if (!box?.dataset.triesAt || !row?.querySelector("select")) return;
    const query = () =>
      new URLSearchParams([
        ["name", field("name")],
        ...chosen("api_operations").map((one) => ["chosen", one])
      ]);
    const soon = keep(box, row.closest("fieldset"), query);
    row.addEventListener("change", soon);
    document.getElementById("id_name")?.addEventListener("input", soon);
    // Django's widget tells of no change: it moves the options.
    new MutationObserver(soon).observe(row, { childList: true, subtree: true });
  };

  const begin = () => {
    keepPages();
    keepOperations();
  };

  // Django names the icons above its lists to choose from, of which none has a role.
  const nameIcons = () => {
    for (const icon of document.querySelectorAll(".search-label-icon[aria-label]")) {
      icon.setAttribute("role", "img");
    }
  };

  window.addEventListener("load", () => setTimeout(nameIcons));
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", begin);
  } else {
    begin();
  }
})();

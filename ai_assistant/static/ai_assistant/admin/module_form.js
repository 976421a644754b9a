/* The form of a module: say at once which pages its patterns are for, and name icons. */

(() => {
  const WAIT_MS = 300;

  const begin = () => {
    const box = document.getElementById("aia-module-pages");
    const pages = document.getElementById("id_pages");
    if (!box?.dataset.triesAt || !pages) return;
    pages.closest("fieldset")?.append(box);
    const field = (name) =>
      document.getElementById(`id_${name}`)?.value ??
      document.querySelector(`.field-${name} .readonly`)?.textContent.trim() ??
      "";
    let timer = 0;
    let last = 0;
    const ask = async () => {
      const mine = ++last;
      const query = new URLSearchParams({
        name: field("name"),
        pages: pages.value,
        priority: field("priority")
      });
      const answer = await fetch(`${box.dataset.triesAt}?${query}`);
      if (!answer.ok || mine !== last) return;
      const found = new DOMParser()
        .parseFromString(await answer.text(), "text/html")
        .querySelector(".aia-pages");
      const shown = box.querySelector(".aia-pages");
      if (found && shown) shown.replaceChildren(...found.childNodes);
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, WAIT_MS);
    };
    for (const name of ["name", "pages", "priority"]) {
      document.getElementById(`id_${name}`)?.addEventListener("input", soon);
    }
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

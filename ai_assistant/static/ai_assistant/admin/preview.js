/* The form of a row of configuration: shows how it reads while it is written. */

(() => {
  const WAIT_MS = 400;

  const begin = () => {
    const box = document.querySelector("[data-aia-preview]");
    const form = box?.closest("form");
    const shown = box?.querySelector(".aia-preview-shown");
    if (!(box instanceof HTMLElement) || !form || !shown) return;
    form.querySelector("fieldset")?.after(box); // where its text stands
    box.querySelector("button")?.remove(); // of pages without a script
    let timer = 0;
    let last = 0;
    const ask = async () => {
      const mine = ++last;
      const options = { method: "POST", body: new FormData(form) };
      const answer = await fetch(box.dataset.aiaPreview ?? "", options);
      if (!answer.ok || mine !== last) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector(".aia-preview-shown");
      if (found) shown.replaceChildren(...found.childNodes);
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(ask, WAIT_MS);
    });
    ask();
  };

  if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();

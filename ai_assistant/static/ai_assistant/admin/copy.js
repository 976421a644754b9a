/* A button that copies a text of the page. */

(() => {
  for (const button of document.querySelectorAll("[data-aia-copies]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    const text = document.getElementById(button.dataset.aiaCopies ?? "");
    const status = button.parentElement?.querySelector("[data-aia-copied]");
    if (!text || !status || !navigator.clipboard) continue; // the text can be chosen
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent ?? "");
      status.textContent = status.getAttribute("data-aia-copied");
    });
  }
})();

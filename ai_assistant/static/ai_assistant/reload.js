// Loads a page anew whose object was changed; asks first if that would lose something.
import { isDirty } from "./changed.js";

const show = (bar, isAsking) => {
  for (const part of bar.querySelectorAll("[data-asks]"))
    part.hidden = (part.dataset.asks === "1") !== isAsking;
  bar
    .querySelector(isAsking ? "[data-aia-reload=stay]" : "[data-aia-reload=now]")
    .focus();
};

export const use = ({ dataset, parentElement }) => {
  const bar = parentElement.closest(".aia-stale");
  if (dataset.aiaReload === "stay") show(bar, false);
  else if (dataset.aiaReload === "now" && isDirty()) show(bar, true);
  else location.replace(location.pathname + location.search);
};

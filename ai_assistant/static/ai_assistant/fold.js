// Beside a docked panel the page's navigation and filter are folded: a press on what
// opens them opens them there too, until the next press.

import { byId, isOpen, root } from "./root.js";
import { read, updateCookie } from "./storage.js";

const NAVIGATION = "#toggle-nav-sidebar, [x-on\\:click^=sidebarDesktopOpen]";
const narrow = matchMedia("(min-width: 1280px) and (max-width: 1679px)");

const isFolding = () => narrow.matches && root.dataset.mode === "dock" && isOpen();

/** Whether the page has closed its navigation: by Django's own choice, or by Unfold's. */
const isClosedByPage = () =>
  byId("main")?.classList.contains("shifted") === false ||
  read("localStorage", "sidebarDesktopOpen") === "0";

/** @param {"navigation" | "filter"} name */
const toggle = (name) => {
  root.toggleAttribute(`data-${name}`);
  const { navigation, filter } = root.dataset;
  updateCookie({ f: `${navigation === "" ? "n" : ""}${filter === "" ? "f" : ""}` });
};

const header = byId("changelist-filter-header");

/** The heading of the filter is a button while it folds. */
const updateHeader = () => {
  const values = {
    role: "button",
    tabindex: "0",
    "aria-expanded": "filter" in root.dataset
  };
  for (const [name, value] of Object.entries(values))
    if (isFolding()) header?.setAttribute(name, `${value}`);
    else header?.removeAttribute(name);
};

const toggleFilter = () => {
  toggle("filter");
  updateHeader();
};

/** @param {any} event */
const onClick = (event) => {
  if (!isFolding() || !event.target.closest) return;
  if (event.target.closest("#changelist-filter-header")) return toggleFilter();
  if (!event.target.closest(NAVIGATION)) return;
  // Once it is open here, the page's own button works as everywhere.
  if (!isClosedByPage()) event.stopImmediatePropagation();
  else if ("navigation" in root.dataset) return;
  toggle("navigation");
};

/** @param {KeyboardEvent} event */
const onKey = (event) => {
  if (event.target !== header || ![" ", "Enter"].includes(event.key)) return;
  event.preventDefault();
  toggleFilter();
};

addEventListener("click", onClick, true);
header?.addEventListener("keydown", onKey);
narrow.addEventListener("change", updateHeader);
for (const name of ["open", "close", "mode"])
  root.addEventListener(`aia:${name}`, updateHeader);
updateHeader();

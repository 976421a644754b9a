// What htmx finds when it is loaded, right after this module: its configuration, as
// the first of the page, and the name that it takes.

const settings = {
  prefix: "data-aia-hx-", // the page's own htmx looks for others
  metaCharacter: ".", // as in data-aia-hx-target.inherited: none of the page's counts
  history: false,
  includeIndicatorCSS: false,
  defaultSettleDelay: 0,
  defaultTimeout: 20_000
};

/** The name as the page has it; undefined if it has none. */
const hosts = Object.getOwnPropertyDescriptor(window, "htmx");

const meta = Object.assign(document.createElement("meta"), {
  name: "htmx-config",
  content: JSON.stringify(settings)
});
document.head.prepend(meta);

/** Leaves the page as it was. */
export const restorePage = () => {
  meta.remove();
  if (hosts) Object.defineProperty(window, "htmx", hosts);
  else delete window.htmx;
};

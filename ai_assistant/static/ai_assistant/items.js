// The chips of what the browser knows, loaded once there is something of it.

import { collect } from "./collectors.js";
import { request } from "./requests.js";
import { byId, cloneTemplate, emit, pagePath, root, translate } from "./root.js";

const OWN = "browser.";
/** @type {Set<string>} */
const warned = new Set();
let drawn = "";

/** @param {unknown} item */
const serialize = (item) => {
  try {
    return JSON.stringify(item ?? null);
  } catch {
    return null; // it refers to itself: it cannot be sent
  }
};

/**
 * @param {PageItem} item
 * @param {number} size
 */
const asTooLarge = (item, size) => {
  const { id } = item;
  if (!warned.has(id)) console.warn(`AIAssistant: ${id} is too large (${size}).`);
  warned.add(id);
  return { ...item, large: true };
};

/**
 * Returns the items of the page; what goes over the limit is marked as too large.
 *
 * @param {number} limit in characters, for all together
 * @param {Partial<PageItem>[]} items
 * @returns {PageItem[]}
 */
export const withinLimit = (limit, items) => {
  let left = limit;
  return items.map(({ id, label, description, value, auto }) => {
    const item = {
      id: String(id),
      label: String(label || description || id),
      description: String(description ?? label ?? id),
      value,
      auto: auto !== false
    };
    const size = serialize(item)?.replace(/</g, "\\u003c").length ?? Infinity;
    if (size > left) return asTooLarge(item, size);
    if (item.auto) left -= size;
    return item;
  });
};

/** @param {unknown} value */
const pretty = (value) =>
  typeof value === "string" ? value : JSON.stringify(value ?? null, null, 1);

/**
 * @param {PageItem} item
 * @param {number} number
 */
const chipFor = (item, number) => {
  const chip = cloneTemplate("aia-t-chip");
  const [name, drop] = chip.querySelectorAll("button");
  const preview = chip.querySelector(".aia-seen");
  chip.dataset.item = OWN + item.id;
  chip.dataset.title = item.label;
  if (!item.auto) chip.dataset.manual = "";
  name.firstElementChild.textContent = item.label;
  preview.id = `aia-seen-b${number}`;
  name.setAttribute("popovertarget", preview.id);
  drop.ariaLabel = translate("drop", item.label);
  preview.firstElementChild.textContent = item.description;
  if (item.large) {
    const why = document.createElement("span");
    why.className = "aia-why";
    why.textContent = translate("large");
    name.append(why);
    chip.classList.add("aia-bad");
    drop.remove();
  } else preview.lastElementChild.textContent = pretty(item.value);
  return chip;
};

/**
 * Collects anew, draws what has changed since, and returns the items.
 *
 * @param {HTMLElement} list
 */
export const drawItems = (list) => {
  const items = withinLimit(Number(list.dataset.room), collect());
  const shape = JSON.stringify(items.map((item) => (item.large ? [item.id] : item)));
  if (shape === drawn && list.dataset.drawn) return items;
  drawn = shape;
  list.dataset.drawn = "1";
  /** @type {NodeListOf<HTMLElement>} */
  const old = list.querySelectorAll(`:scope > [data-item^="${OWN}"]`);
  for (const chip of old) chip.remove();
  list.append(...items.map(chipFor));
  emit("context", items);
  return items;
};

/** Returns when the page was opened: gone to without a load, its form knows. */
const openedAt = () => {
  /** @type {HTMLInputElement} */
  const field = document.querySelector("[name=_aia_opened]");
  const moment = field?.value.split(":")[0];
  if (moment) root.dataset.opened = moment;
  return root.dataset.opened;
};

/** Asks the server anew for its own chips; resolves to whether they were drawn. */
export const redrawChips = async () => {
  const { conversation } = root.dataset;
  const path = pagePath();
  const { title } = document;
  const values = { conversation, path, title, opened: openedAt() ?? "" };
  // If none come, the next message is sent with what the server finds.
  const { isDrawn } = await request(
    byId("aia-context"),
    values,
    () => path === pagePath()
  );
  return isDrawn;
};

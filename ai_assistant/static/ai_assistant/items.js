// The chips of what only the browser knows, loaded once there is something of it.
import { collect } from "./collectors.js";
import { redraw } from "./frames.js";
import { ask, clone, pagePath, root, tell, word } from "./root.js";

const OWN = "browser.";
const warned = new Set();
let drawn = "";

const textOf = (value) => {
  try {
    return JSON.stringify(value ?? null);
  } catch {
    return null; // it refers to itself: it cannot be sent
  }
};

const refuse = (item, size) => {
  const { id } = item;
  if (!warned.has(id)) console.warn(`AIAssistant: ${id} is too large (${size}).`);
  warned.add(id);
  return { ...item, large: true };
};

const bounded = (room) => {
  let left = room;
  return collect().map(({ id, label, description, value, auto }) => {
    const item = {
      id: String(id),
      label: String(label || description || id),
      description: String(description ?? label ?? id),
      value,
      auto: auto !== false
    };
    const size = textOf(item)?.replace(/</g, "\\u003c").length ?? Infinity;
    if (size > left) return refuse(item, size);
    if (item.auto) left -= size;
    return item;
  });
};

const pretty = (value) =>
  typeof value === "string" ? value : JSON.stringify(value ?? null, null, 1);

const chipFor = (item, number) => {
  const chip = clone("aia-t-chip");
  const [name, drop] = chip.querySelectorAll("button");
  const seen = chip.querySelector(".aia-seen");
  chip.dataset.item = OWN + item.id;
  chip.dataset.title = item.label;
  if (!item.auto) chip.dataset.manual = "";
  name.firstElementChild.textContent = item.label;
  seen.id = `aia-seen-b${number}`;
  name.setAttribute("popovertarget", seen.id);
  drop.setAttribute("aria-label", word("drop", item.label));
  seen.firstElementChild.textContent = item.description;
  if (item.large) {
    const why = document.createElement("span");
    why.className = "aia-why";
    why.textContent = word("large");
    name.append(why);
    chip.classList.add("aia-bad");
    drop.remove();
  } else seen.lastElementChild.textContent = pretty(item.value);
  return chip;
};

// Collects anew and draws what has changed since; returns the items.
export const drawItems = (list) => {
  const items = bounded(Number(list.dataset.room));
  const shape = JSON.stringify(items.map((item) => (item.large ? [item.id] : item)));
  if (shape === drawn && list.dataset.drawn) return items;
  drawn = shape;
  list.dataset.drawn = "1";
  for (const chip of [...list.children])
    if (chip.dataset.item.startsWith(OWN)) chip.remove();
  list.append(...items.map(chipFor));
  tell("context", items);
  return items;
};

// When the page was opened: if it was gone to without a load, its form knows.
const moment = () => {
  const said = document.querySelector("[name=_aia_opened]")?.value.split(":")[0];
  if (said) root.dataset.opened = said;
  return root.dataset.opened;
};

// Asks the server anew for its own chips; says whether they were drawn.
export const redrawn = async () => {
  const { conversation } = root.dataset;
  const path = pagePath();
  const { title } = document;
  try {
    const opened = moment();
    const values = { conversation, path, title, opened };
    const response = await ask(root.dataset.context, values);
    if (!response.ok || response.redirected || path !== pagePath()) return false;
    redraw(await response.text());
    return true;
  } catch {
    return false; // the next message is sent with what the server finds
  }
};

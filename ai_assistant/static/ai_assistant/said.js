// What boot.js keeps, a line each, until it is among the messages on their way.
import { add } from "./pending.js";
import { root } from "./root.js";
import { read, write } from "./store.js";

const KEY = "aia.said";
const all = () => read("sessionStorage", KEY) ?? "";
const remove = (lines) => write("sessionStorage", KEY, all().replace(lines, ""));

// A call to send on this page.
export const taken = (values) => remove(`,${new URLSearchParams(values)}`);

// What was said on pages that were left before their panel could take it.
export const overtake = (newKey) => {
  const { left } = root;
  root.left = ""; // once
  if (!all().startsWith(left)) return [];
  const { conversation } = root.dataset;
  const items = left
    .split(",")
    .slice(1)
    .map((line) => ({
      ...{ key: newKey(), conversation, time: Date.now() },
      ...Object.fromEntries(new URLSearchParams(line))
    }));
  items.forEach(add);
  remove(left);
  return items;
};

// To a message that a search has found, or that the address names.

import { reach } from "./earlier.js";
import { byId } from "./root.js";

const MARKED_MS = 4000;

/**
 * @param {string} id
 * @param {string | null} run
 */
export const jump = async (id, run) => {
  if (!byId(id)) await reach(run);
  const message = byId(id);
  const box = byId("aia-scroll");
  if (!message) return;
  const above = message.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += above - 16;
  message.tabIndex = -1;
  message.focus({ preventScroll: true });
  message.dataset.found = "";
  setTimeout(() => delete message.dataset.found, MARKED_MS);
};

const { hash, searchParams } = new URL(location.href);
if (/^#[ur]-/.test(hash)) jump(hash.slice(1), searchParams.get("at"));

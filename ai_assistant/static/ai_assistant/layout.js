// How the person has left the panel, in a cookie so that the server can draw it so.
import { isOpen, root } from "./root.js";

const YEAR_S = 365 * 24 * 3600;
const MAX_CHARS = 200; // the server takes no longer one

// Changes the named values, and keeps what this or another tab has said besides.
export const keep = (values) => {
  const raw = /(?:^|; )aia_ui=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const said = new URLSearchParams(raw.length > MAX_CHARS ? "" : raw);
  for (const [name, value] of Object.entries(values))
    if (value) said.set(name, value);
    else said.delete(name);
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `aia_ui=${said};path=/;max-age=${YEAR_S};samesite=lax${secure}`;
};

export const saveLayout = () => {
  const { mode: m, w, conversation: c } = root.dataset;
  if (m === "page") return;
  keep({ o: isOpen() ? "1" : "0", m, w, c, b: "busy" in root.dataset && "1" });
};

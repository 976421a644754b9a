// The way down over HTTP: for a browser without a socket, and to ask whether a
// silent one is still good.

import { get } from "./fetching.js";
import { receive } from "./frame_queue.js";
import { isSignedOut, pagePath, root } from "./root.js";

const POLL_MS = 1500;
const BELIEVED_S = 600;
let timer = 0;

/**
 * @param {Frame} frame
 * @param {Position} position
 */
const isNew = (frame, { run, after }) => frame.r !== run || frame.s > Number(after);

/**
 * Returns what the page lacks since `from`. Throws the code with which a socket would
 * have been closed.
 *
 * @param {Position} from
 * @returns {Promise<Frame[]>}
 */
const fetchFrames = async (from) => {
  const response = await get(root.dataset.frames, { ...from, path: pagePath() });
  if (from.conversation !== root.dataset.conversation) return [];
  if (isSignedOut(response)) throw 4401;
  if (response.status === 403) throw 4403;
  if (!response.ok) throw response.status;
  return (await response.json()).frames;
};

/**
 * Asks by a plain request whether the server has sockets (WSGI has none), and
 * believes its No for a while.
 *
 * @param {() => void} onNone
 */
const checkSockets = async (onNone) => {
  const response = await get(root.dataset.ws).catch(() => /** @type {null} */ (null));
  if (response?.headers.get("X-Assistant-Socket") !== "none") return;
  document.cookie = `aia_ws=none; path=/; max-age=${BELIEVED_S}; samesite=lax`;
  onNone();
};

/**
 * Asks now, and again until `stopPolling`.
 *
 * @param {() => Position} position
 * @param {(code?: unknown) => void} onPolled called with nothing if all went well
 * @param {() => void} onNoSockets called if there is no socket to wait for
 */
export const startPolling = (position, onPolled, onNoSockets) => {
  if (!timer && !document.cookie.includes("aia_ws=")) checkSockets(onNoSockets);
  const poll = async () => {
    const mine = timer;
    try {
      const frames = await fetchFrames(position());
      if (mine !== timer) return;
      frames.forEach(receive);
      onPolled();
    } catch (code) {
      if (mine === timer) onPolled(code);
    }
    if (mine === timer) timer = setTimeout(poll, POLL_MS);
  };
  timer ||= setTimeout(poll, 0);
};

export const stopPolling = () => {
  clearTimeout(timer);
  timer = 0;
};

/**
 * Takes what the socket should have brought; returns whether there was anything.
 *
 * @param {Position} from
 * @param {() => boolean} isWanted
 */
export const fetchMissed = async (from, isWanted) => {
  const frames = await fetchFrames(from);
  if (!isWanted() || !frames.some((frame) => isNew(frame, from))) return false;
  frames.forEach(receive);
  return true;
};

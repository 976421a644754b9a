// The way down over HTTP: for a browser without a socket, and to ask whether a
// silent one is still good.
import { receive } from "./frames.js";
import { ask, pagePath, root, signedOut } from "./root.js";

const POLL_MS = 1500;
const BELIEVED_S = 600;
let timer = 0;

const isNews = (frame, { run, after }) => frame.r !== run || frame.s > Number(after);

// What the page lacks since `from`. Throws the code with which a socket would have
// been closed.
const fetchFrames = async (from) => {
  const response = await ask(root.dataset.frames, { ...from, path: pagePath() });
  if (from.conversation !== root.dataset.conversation) return [];
  if (signedOut(response)) throw 4401;
  if (response.status === 403) throw 4403;
  if (!response.ok) throw response.status;
  return (await response.json()).frames;
};

// A server without sockets (WSGI) says so to a plain request; believed for a while.
const learn = async (then) => {
  const response = await ask(root.dataset.ws).catch(() => null);
  if (response?.headers.get("X-Assistant-Socket") !== "none") return;
  document.cookie = `aia_ws=none; path=/; max-age=${BELIEVED_S}; samesite=lax`;
  then();
};

// Asks now, and again until `stopPolling`. `told()` hears how it went, `without` that
// there is no socket to wait for.
export const startPolling = (position, told, without) => {
  if (!timer && !document.cookie.includes("aia_ws=")) learn(without);
  const poll = async () => {
    const mine = timer;
    try {
      const frames = await fetchFrames(position());
      if (mine !== timer) return;
      frames.forEach(receive);
      told();
    } catch (code) {
      if (mine === timer) told(code);
    }
    if (mine === timer) timer = setTimeout(poll, POLL_MS);
  };
  timer ||= setTimeout(poll, 0);
};

export const stopPolling = () => {
  clearTimeout(timer);
  timer = 0;
};

// Takes what the socket should have brought; says whether there was anything.
export const missed = async (from, isWanted) => {
  const frames = await fetchFrames(from);
  if (!isWanted() || !frames.some((frame) => isNews(frame, from))) return false;
  frames.forEach(receive);
  return true;
};

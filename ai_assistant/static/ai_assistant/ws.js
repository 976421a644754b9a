// The way down: a socket that resumes where the page stands; polling.js helps out.
import { flush, forget, receive } from "./frames.js";
import { byId, clone, isOpen, lazily, notice, pagePath, root, word } from "./root.js";
import { setOverride } from "./state.js";

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 15000;
const TRIES_BEFORE_POLL = 3;
const QUIET_MS = 6000; // of a run under way, after which the socket is doubted

let socket = null;
let stopped = true;
let tries = 0;
let retryTimer;
let lostTimer = 0;
let due = 0; // when the next try begins
let heard = 0; // when the socket last gave a sign of life
let polling; // the module, once it is there

const helpOut = lazily(async () => (polling = await import("./polling.js")));
// Loaded while there is a connection: what it says is about having none.
const offline = lazily(() => import("./offline.js"));

// --- what the person is told ---

const found = () => {
  clearTimeout(lostTimer);
  lostTimer = 0;
  byId("aia-conn")?.replaceChildren();
  setOverride("");
};

const sayLost = async () => {
  if (stopped || !lostTimer) return;
  if (root.dataset.state !== "offline" && byId("aia-conn"))
    byId("aia-conn").textContent = word("offline");
  setOverride("offline");
  (await offline())?.count(due, again);
};

const lost = () => {
  lostTimer ||= setTimeout(sayLost, 2000);
};

export const endSession = () => {
  stop();
  setOverride("signed-out");
  byId("aia-notice")?.replaceChildren(clone("aia-t-signed-out"));
};

const refuse = () => {
  stop();
  notice(word("forbidden"));
};

// --- the socket ---

const position = () => ({
  conversation: root.dataset.conversation,
  run: root.dataset.run,
  after: root.dataset.seq,
  opened: root.dataset.opened
});

const address = () => {
  const url = new URL(root.dataset.ws, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
};

const isFinal = (code) => {
  if (code === 4401) endSession();
  if (code === 4403) refuse();
  return stopped;
};

const told = (code) => {
  if (!code) found();
  else if (!isFinal(code)) lost();
};

const poll = async () => {
  if (!(await helpOut())) return lost();
  if (!stopped && socket?.readyState !== WebSocket.OPEN)
    polling.startPolling(position, told, again);
};

const later = () => {
  const jitter = 0.7 + Math.random() * 0.6;
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** tries) * jitter;
  tries += 1;
  due = Date.now() + delay;
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, delay);
  if (tries >= TRIES_BEFORE_POLL) poll();
  else lost();
  if (root.dataset.state === "offline") sayLost();
};

const closed = (code) => {
  if (stopped || isFinal(code)) return;
  if (code === 4429) tries = 6; // too many tabs: this one polls
  later();
};

const drop = () => {
  const old = socket;
  socket = null;
  old?.close();
};

const opened = (fresh) => {
  flush();
  polling?.stopPolling();
  found();
  const hello = { type: "hello", ...position(), path: pagePath(), language: root.lang };
  fresh.send(JSON.stringify(hello));
  offline();
  // Who hangs up at once is not back yet.
  setTimeout(() => fresh === socket && (tries = 0), 5000);
};

function connect() {
  clearTimeout(retryTimer);
  if (stopped || socket) return;
  if (document.cookie.includes("aia_ws=")) return poll(); // see polling.js
  let fresh;
  try {
    fresh = new WebSocket(address());
  } catch {
    return later();
  }
  socket = fresh;
  heard = Date.now();
  fresh.onopen = () => fresh === socket && opened(fresh);
  fresh.onmessage = ({ data }) => {
    if (fresh !== socket) return;
    tries = 0;
    heard = Date.now();
    receive(JSON.parse(data));
  };
  fresh.onclose = ({ code }) => {
    if (fresh !== socket) return;
    socket = null;
    closed(code);
  };
}

// --- a network that has gone silent closes nothing ---

const renew = () => {
  drop();
  connect();
};

const doubt = async () => {
  const doubted = socket;
  const isSame = () => doubted === socket && !stopped;
  try {
    await helpOut();
    if (await polling.missed(position(), isSame)) renew();
  } catch (code) {
    if (!isSame() || isFinal(code)) return;
    drop();
    later();
  }
};

const watch = () => {
  if (stopped || !socket || Date.now() - heard < QUIET_MS) return;
  heard = Date.now();
  if (socket.readyState === WebSocket.CONNECTING) renew();
  else if (root.dataset.busy === "run") doubt();
};

setInterval(watch, QUIET_MS / 3);

// --- what others call ---

// What this page has done is on it soon, also if nobody rings.
export const look = () => {
  if (socket?.readyState === WebSocket.OPEN) socket.send('{"type":"look"}');
};
root.addEventListener("htmx:afterRequest", look);

export function stop() {
  stopped = true;
  clearTimeout(retryTimer);
  polling?.stopPolling();
  drop();
  found();
}

export const start = () => {
  if (!stopped) return;
  stopped = false;
  tries = 0;
  connect();
};

export const restart = () => {
  stop();
  forget();
  start();
};

function again() {
  if (stopped) return;
  tries = 0;
  connect();
}

root.addEventListener("aia:frame", ({ detail }) => {
  if (socket?.readyState === WebSocket.OPEN)
    socket.send(JSON.stringify({ type: "ack", s: detail.seq }));
});
addEventListener("online", () => {
  drop();
  again();
});
addEventListener("offline", () => {
  if (stopped) return;
  drop();
  later();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  again();
  watch();
});
addEventListener("pagehide", stop);
addEventListener("pageshow", (event) => event.persisted && isOpen() && start());

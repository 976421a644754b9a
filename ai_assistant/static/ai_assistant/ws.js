// The way down: a socket that resumes where the page stands; polling.js helps out.

import { dropFrames, flush, receive } from "./frame_queue.js";
import {
  byId,
  cloneTemplate,
  isOpen,
  lazy,
  pagePath,
  root,
  showNotice,
  translate
} from "./root.js";
import { setConnection } from "./state.js";

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 15000;
const TRIES_BEFORE_POLL = 3;
const QUIET_MS = 6000; // of a run under way, after which the socket is doubted

/** @type {WebSocket | null} */
let socket = null;
let stopped = true;
let tries = 0;
/** @type {number} */
let retryTimer;
let lostTimer = 0;
let retryAt = 0;
let heardAt = 0; // when the socket last gave a sign of life
/** @type {typeof import("./polling.js")} */
let polling; // once it is loaded

const loadPolling = lazy(async () => {
  polling = await import("./polling.js");
  return polling;
});
// Loaded while there is a connection: what it says is about having none.
const offline = lazy(() => import("./offline.js"));

// --- what the person sees of it ---

const onConnected = () => {
  clearTimeout(lostTimer);
  lostTimer = 0;
  byId("aia-conn")?.replaceChildren();
  setConnection("");
};

const showOffline = async () => {
  if (stopped || !lostTimer) return;
  if (root.dataset.state !== "offline" && byId("aia-conn"))
    byId("aia-conn").textContent = translate("offline");
  setConnection("offline");
  (await offline())?.countDown(retryAt, reconnectNow);
};

const onLost = () => {
  lostTimer ||= setTimeout(showOffline, 2000);
};

export const endSession = () => {
  stop();
  setConnection("signed-out");
  byId("aia-notice")?.replaceChildren(cloneTemplate("aia-t-signed-out"));
};

const showForbidden = () => {
  stop();
  showNotice(translate("forbidden"));
};

// --- the socket ---

/** @returns {Position} */
const position = () => ({
  conversation: root.dataset.conversation,
  run: root.dataset.run,
  after: root.dataset.seq,
  opened: root.dataset.opened
});

const socketUrl = () => {
  const url = new URL(root.dataset.ws, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
};

/** @param {number} code */
const isFinal = (code) => {
  if (code === 4401) endSession();
  if (code === 4403) showForbidden();
  return stopped;
};

/** @param {any} [code] none if the poll went well */
const onPolled = (code) => {
  if (!code) onConnected();
  else if (!isFinal(code)) onLost();
};

const poll = async () => {
  if (!(await loadPolling())) return onLost();
  if (!stopped && socket?.readyState !== WebSocket.OPEN)
    polling.startPolling(position, onPolled, reconnectNow);
};

const reconnectLater = () => {
  const jitter = 0.7 + Math.random() * 0.6;
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** tries) * jitter;
  tries += 1;
  retryAt = Date.now() + delay;
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, delay);
  if (tries >= TRIES_BEFORE_POLL) poll();
  else onLost();
  if (root.dataset.state === "offline") showOffline();
};

/** @param {number} code */
const onClosed = (code) => {
  if (stopped || isFinal(code)) return;
  if (code === 4429) tries = 6; // too many tabs: this one polls
  reconnectLater();
};

const closeSocket = () => {
  const old = socket;
  socket = null;
  old?.close();
};

/** @param {WebSocket} fresh */
const onOpened = (fresh) => {
  flush();
  polling?.stopPolling();
  onConnected();
  const hello = {
    type: "hello",
    ...position(),
    path: pagePath(),
    language: root.lang
  };
  fresh.send(JSON.stringify(hello));
  offline();
  // Who hangs up at once is not back yet.
  setTimeout(() => {
    if (fresh === socket) tries = 0;
  }, 5000);
};

function connect() {
  clearTimeout(retryTimer);
  if (stopped || socket) return;
  if (document.cookie.includes("aia_ws=")) return poll(); // see polling.js
  /** @type {WebSocket} */
  let fresh;
  try {
    fresh = new WebSocket(socketUrl());
  } catch {
    return reconnectLater();
  }
  socket = fresh;
  heardAt = Date.now();
  fresh.onopen = () => fresh === socket && onOpened(fresh);
  fresh.onmessage = ({ data }) => {
    if (fresh !== socket) return;
    tries = 0;
    heardAt = Date.now();
    receive(JSON.parse(data));
  };
  fresh.onclose = ({ code }) => {
    if (fresh !== socket) return;
    socket = null;
    onClosed(code);
  };
}

// --- a network that has gone silent closes nothing ---

const reconnect = () => {
  closeSocket();
  connect();
};

const verifySocket = async () => {
  const doubted = socket;
  const isSame = () => doubted === socket && !stopped;
  try {
    await loadPolling();
    if (await polling.fetchMissed(position(), isSame)) reconnect();
  } catch (code) {
    if (!isSame() || isFinal(/** @type {number} */ (code))) return;
    closeSocket();
    reconnectLater();
  }
};

const checkSilence = () => {
  if (stopped || !socket || Date.now() - heardAt < QUIET_MS) return;
  heardAt = Date.now();
  if (socket.readyState === WebSocket.CONNECTING) reconnect();
  else if (root.dataset.busy === "run") verifySocket();
};

setInterval(checkSilence, QUIET_MS / 3);

// --- what others call ---

/** @param {object} message */
const sendMessage = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};

/** Asks for what this page has just done, in case no notification tells of it. */
export const requestUpdates = () => sendMessage({ type: "look" });
root.addEventListener("htmx.after.request", requestUpdates);
root.addEventListener("aia:followed", () =>
  sendMessage({ type: "look", opened: root.dataset.opened })
);
root.addEventListener("aia:signed-out", endSession);

export function stop() {
  stopped = true;
  clearTimeout(retryTimer);
  polling?.stopPolling();
  closeSocket();
  onConnected();
}

export const start = () => {
  if (!stopped) return;
  stopped = false;
  tries = 0;
  connect();
};

export const restart = () => {
  stop();
  dropFrames();
  start();
};

function reconnectNow() {
  if (stopped) return;
  tries = 0;
  connect();
}

root.addEventListener("aia:frame", ({ detail }) =>
  sendMessage({ type: "ack", s: detail.seq })
);
addEventListener("online", () => {
  closeSocket();
  reconnectNow();
});
addEventListener("offline", () => {
  if (stopped) return;
  closeSocket();
  reconnectLater();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  reconnectNow();
  checkSilence();
});
addEventListener("pagehide", stop);
addEventListener("pageshow", (event) => event.persisted && isOpen() && start());

// The way down: a socket that resumes where the page stands, or polling.
import { alertNow } from "./announce.js";
import { flush, forget, receive } from "./frames.js";
import {
  ask,
  byId,
  clone,
  isOpen,
  notice,
  pagePath,
  root,
  signedOut,
  word,
} from "./root.js";
import { setOverride } from "./state.js";

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 15000;
const POLL_MS = 1500;
const TRIES_BEFORE_POLL = 3;
const QUIET_MS = 6000; // of a run under way, after which the socket is doubted

let socket = null;
let stopped = true;
let tries = 0;
let retryTimer;
let pollTimer = 0;
let lostTimers = null;
let heard = 0; // when the socket last gave a sign of life

// --- what the person is told ---

const found = () => {
  lostTimers?.forEach(clearTimeout);
  lostTimers = null;
  const line = byId("aia-conn");
  if (line) line.textContent = "";
  setOverride("");
};

const lost = () => {
  lostTimers ??= [
    setTimeout(() => {
      setOverride("offline");
      if (byId("aia-conn")) byId("aia-conn").textContent = word("offline");
    }, 2000),
    setTimeout(() => alertNow(word("lost")), 5000),
  ];
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

// --- polling ---

const position = () => ({
  conversation: root.dataset.conversation,
  run: root.dataset.run,
  after: root.dataset.seq,
});

const isNews = (frame, { run, after }) =>
  frame.r !== run || frame.s > Number(after);

// What the page lacks, asked for over HTTP.
const fetchFrames = async (from) => {
  const response = await ask(root.dataset.frames, from);
  if (stopped || from.conversation !== root.dataset.conversation) return [];
  if (signedOut(response)) return endSession() ?? [];
  if (response.status === 403) return refuse() ?? [];
  if (!response.ok) throw new Error(response.status);
  const { frames } = await response.json();
  found();
  return frames;
};

const poll = async () => {
  try {
    const frames = await fetchFrames(position());
    frames.forEach(receive);
  } catch {
    lost();
  }
  if (pollTimer) pollTimer = setTimeout(poll, POLL_MS);
};

const startPolling = () => {
  pollTimer ||= setTimeout(poll, 0);
};

const stopPolling = () => {
  clearTimeout(pollTimer);
  pollTimer = 0;
};

// --- the socket ---

const address = () => {
  const url = new URL(root.dataset.ws, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
};

const later = () => {
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** tries);
  tries += 1;
  if (tries >= TRIES_BEFORE_POLL) startPolling();
  else lost();
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, delay * (0.7 + Math.random() * 0.6));
};

const closed = (code) => {
  if (stopped) return;
  if (code === 4401) return endSession();
  if (code === 4403) return refuse();
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
  stopPolling();
  found();
  const after = Number(root.dataset.seq);
  const hello = { type: "hello", ...position(), after, path: pagePath() };
  fresh.send(JSON.stringify(hello));
  // A server that takes the call and hangs up at once is not yet back.
  setTimeout(() => fresh === socket && (tries = 0), 5000);
};

function connect() {
  clearTimeout(retryTimer);
  if (stopped || socket) return;
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
  const from = position();
  try {
    const frames = await fetchFrames(from);
    if (doubted !== socket || !frames.some((frame) => isNews(frame, from))) return;
    frames.forEach(receive);
    renew();
  } catch {
    if (doubted !== socket || stopped) return;
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

export function stop() {
  stopped = true;
  clearTimeout(retryTimer);
  stopPolling();
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

const again = () => {
  if (stopped) return;
  tries = 0;
  connect();
};

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

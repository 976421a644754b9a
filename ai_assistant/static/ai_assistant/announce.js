// What a screen reader hears: one short sentence at a time, never the stream.
import { byId } from "./root.js";

const PAUSE_MS = 3000;
let last = 0;
let timer;

export const say = (text) => {
  clearTimeout(timer);
  const wait = Math.max(50, last + PAUSE_MS - Date.now());
  timer = setTimeout(() => {
    last = Date.now();
    byId("aia-say").textContent = text;
  }, wait);
};

export const alertNow = (text) => {
  byId("aia-alert").textContent = text;
};

// Messages that wait for the end of an answer. All tabs of the conversation see the
// same ones; one tab sends the next, with the key that was made when it was written.
import { field, fill, isHere, queueKey, saveDraft } from "./field.js";
import { add } from "./pending.js";
import { byId, clone, notice, post, root, signedOut } from "./root.js";
import { deliver, explain, isYoung } from "./sending.js";
import { running, serverState } from "./state.js";
import { read, readList, write } from "./store.js";
import { endSession } from "./ws.js";

const RUNS_KEPT = ".after"; // the run after whose end a message was sent

const list = () => readList("localStorage", queueKey());

const save = (items) => {
  write("localStorage", queueKey(), items.length ? JSON.stringify(items) : "");
  if (!items.length) write("localStorage", queueKey() + RUNS_KEPT, "");
};

// One tab at a time; on plain http there are no locks, and the key alone has to do.
const alone = (work) =>
  navigator.locks ? navigator.locks.request(queueKey(), work) : Promise.resolve(work());

// --- telling it to the answer under way ---

// Its next step reads it. If there is none, it is sent when the answer has ended.
const isTold = ({ told }) => running() && told === root.dataset.run;

const mark = (key, told) =>
  alone(() => save(list().map((item) => (item.key === key ? { ...item, told } : item))));

const steer = async (key) => {
  const { run } = root.dataset;
  const { time, ...values } = list().find((item) => item.key === key) ?? {};
  if (!time) return;
  await mark(key, run); // before it can be answered for
  draw();
  const response = await post(byId("aia-form").action, { ...values, steers: 1 }).catch(() => null);
  // If no answer came it may have arrived all the same: it counts as told till the end.
  if (!response || response.status === 204) return;
  await mark(key, "");
  draw();
  if (signedOut(response)) endSession();
  else explain(response);
};

const isShown = ({ key }) => root.querySelector(`.aia-msg[data-key="${CSS.escape(key)}"]`);

const settle = () =>
  list().some(isShown) &&
  alone(() => save(list().filter((item) => !isShown(item)))).then(draw);

// --- what is shown ---

const why = () => {
  const state = serverState();
  if (list().some(isTold)) return byId("aia-queue").dataset.told;
  const names = { stopped: "stopped", error: "failed", limited: "limited", idle: "paused" };
  const name = state.startsWith("waiting") ? "waits" : (names[state] ?? "next");
  return byId("aia-queue").dataset[name];
};

const chipFor = (item) => {
  const { key, text } = item;
  const chip = clone("aia-t-queued");
  chip.dataset.key = key;
  if (isTold(item)) {
    chip.dataset.told = "";
    for (const button of chip.querySelectorAll("button")) button.remove();
  }
  chip.querySelector("span").textContent = text;
  return chip;
};

export const draw = () => {
  const box = byId("aia-queue");
  if (!box) return;
  const items = list();
  const focused = document.activeElement?.closest?.("#aia-queue button");
  const { key } = focused?.closest("li").dataset ?? {};
  box.hidden = !items.length;
  box.querySelector("p").textContent = why();
  box.querySelector("ul").replaceChildren(...items.map(chipFor));
  const last = box.querySelector("li:last-child [data-do=down]");
  if (last) last.style.visibility = "hidden"; // keeps its place in the row
  if (!focused) return;
  const chip = box.querySelector(`li[data-key="${CSS.escape(key)}"]`);
  const same = chip?.querySelector(`[data-do=${focused.dataset.do}]`);
  const heir = same?.checkVisibility({ visibilityProperty: true }) ? same : (chip ?? box).querySelector("button");
  (heir ?? field()).focus();
};

// --- sending the next one ---

const send = (item) => {
  const fresh = { ...item, time: Date.now(), queued: true };
  add(fresh);
  deliver(fresh);
};

const take = (isWanted) =>
  alone(() => {
    const items = list();
    const item = items.find(isWanted);
    const { run } = root.dataset;
    if (!item || !isHere(item) || running()) return;
    if (read("localStorage", queueKey() + RUNS_KEPT) === run) return;
    write("localStorage", queueKey() + RUNS_KEPT, run);
    save(items.filter((other) => other !== item));
    notice("");
    send(item);
  }).then(draw);

// After a good end only: what a failure or a question leaves behind is for the person.
const next = async () => {
  await settle();
  if (serverState() !== "idle") return draw();
  const [first] = list();
  return take((item) => item.key === first?.key);
};

// On a page that was loaded meanwhile. What has been left for long is not sent unasked.
export const arrived = () => (list().every(isYoung) ? next() : settle() || draw());

// --- what the person does with one ---

const moved = (items, from, to) => {
  if (to < 0 || to >= items.length) return items;
  const [item] = items.splice(from, 1);
  items.splice(to, 0, item);
  return items;
};

const edit = ({ text }) => {
  const typed = field().value.trim();
  fill(typed ? `${text}\n\n${typed}` : text);
  saveDraft();
  field().focus();
};

const DO = {
  drop: (items, place) => items.toSpliced(place, 1),
  up: (items, place) => moved(items, place, place - 1),
  down: (items, place) => moved(items, place, place + 1),
  now: (items, place) => moved(items, place, items.filter(isTold).length),
  edit: (items, place) => {
    edit(items[place]);
    return items.toSpliced(place, 1);
  },
};

const onPress = async (button) => {
  const { key } = button.closest("li").dataset;
  const how = button.dataset.do;
  await alone(() => {
    const items = list();
    const place = items.findIndex((item) => item.key === key);
    if (place >= 0) save(DO[how](items, place));
  });
  draw();
  if (how !== "now") return;
  if (running()) return steer(key);
  write("localStorage", queueKey() + RUNS_KEPT, "");
  take((item) => item.key === key);
};

root.addEventListener("click", ({ target }) => {
  const button = target.closest("#aia-queue [data-do]");
  if (button) onPress(button);
});

// It could not be sent: it waits again, and does not try on its own.
root.addEventListener("aia:returned", (event) => {
  const item = event.detail;
  if (!item.queued || !isHere(item)) return;
  event.preventDefault();
  write("localStorage", queueKey() + RUNS_KEPT, root.dataset.run);
  save([item, ...list()]);
  draw();
});

root.addEventListener("aia:message-done", next);
root.addEventListener("aia:frame", () => {
  settle();
  const line = byId("aia-queue")?.querySelector("p");
  if (line && line.textContent !== why()) line.textContent = why();
});

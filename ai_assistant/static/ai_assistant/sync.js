// What one tab tells the others, and what nobody has seen yet.
import { draftKey, field, fill, isNew } from "./field.js";
import { keep } from "./layout.js";
import { isOn } from "./notify.js";
import { byId, isOpen, post, root, word } from "./root.js";
import { write } from "./store.js";

const LONG_S = 10; // runs that somebody may have turned away from
const TABS = "aia.tabs"; // a conversation that is open in more than one
const channel = new BroadcastChannel(`aia.${root.dataset.user}`);

export const tellTabs = (said) => channel.postMessage(said);
export const onTabs = (listener) =>
  channel.addEventListener("message", ({ data }) => listener(data));

// --- what nobody has seen ---

const retitle = (count) => {
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = document.hidden && count ? `(${count}) ${bare}` : bare;
};

const show = (count) => {
  keep({ n: count ? `${count}` : "" });
  if (count) root.dataset.unread = count;
  else delete root.dataset.unread;
  if (byId("aia-unread")) byId("aia-unread").textContent = count || "";
  retitle(count);
};

const notify = ({ seconds, title }) => {
  if (!document.hidden || seconds < LONG_S || !isOn()) return;
  try {
    const note = new Notification(word("notified"), { body: title, tag: "aia" });
    note.onclick = () => {
      window.focus();
      note.close();
    };
  } catch {
    // phones have no notifications of pages
  }
};

// Tells the server what is seen here, and asks it what is not.
const settle = async () => {
  const { conversation } = root.dataset;
  const seen = isOpen() && !document.hidden ? "1" : "";
  let told;
  try {
    const response = await post(byId("aia-list").dataset.seen, { conversation, seen });
    if (!response.ok || response.redirected) return null;
    told = await response.json();
  } catch {
    return null; // the network is away: the next answer, or the next page, says it
  }
  show(told.unread);
  tellTabs({ unread: told.unread });
  return told;
};

const ended = async () => {
  const told = await settle();
  if (told) notify(told);
};

onTabs(({ unread }) => unread !== undefined && show(unread));
document.addEventListener("visibilitychange", () => {
  if (document.hidden || !("unread" in root.dataset)) return;
  retitle(0);
  settle();
});

// --- the same conversation elsewhere ---

const meet = () => {
  const hint = byId("aia-tabs");
  if (!hint?.hidden) return;
  hint.hidden = false;
  // The other tab may not listen to the channel yet.
  write("localStorage", TABS, `${root.dataset.conversation} ${Date.now()}`);
};

const heard = ({ key, newValue }) => {
  if (!field() || isNew()) return;
  if (key === TABS && newValue?.startsWith(root.dataset.conversation)) meet();
  if (key !== draftKey()) return;
  if (document.activeElement !== field()) fill(newValue ?? "");
  meet();
};

onTabs(({ left }) => {
  if (left === root.dataset.conversation && byId("aia-tabs"))
    byId("aia-tabs").hidden = true;
});
addEventListener("pagehide", () => tellTabs({ left: root.dataset.conversation }));

// Of a run that has ended, an answer that is news, or what another tab has stored.
export const take = (event) => {
  if (event.type === "storage") return heard(event);
  if (event.type === "aia:message-done") return ended();
  if (document.hidden && "unread" in root.dataset) return null; // told before
  return settle();
};

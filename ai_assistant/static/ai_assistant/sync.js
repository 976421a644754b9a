// What one tab tells the others, and what nobody has seen yet.

import { draftKey, field, isNew, setText } from "./draft.js";
import { post } from "./fetching.js";
import { isOn } from "./notify.js";
import { byId, isOpen, root, translate } from "./root.js";
import { updateCookie, write } from "./storage.js";

const LONG_S = 10; // runs that somebody may have turned away from
const TABS = "aia.tabs"; // a conversation that is open in more than one
const channel = new BroadcastChannel(`aia.${root.dataset.user}`);

/** @typedef {{ list?: boolean, unread?: number, left?: string }} TabMessage */

/** @param {TabMessage} message */
export const broadcast = (message) => channel.postMessage(message);

/** @param {(message: TabMessage) => unknown} listener */
export const onBroadcast = (listener) =>
  channel.addEventListener("message", ({ data }) => listener(data));

// --- what nobody has seen ---

/** @param {number} count */
const updateTitle = (count) => {
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = document.hidden && count ? `(${count}) ${bare}` : bare;
};

/** @param {number} count */
const showUnread = (count) => {
  updateCookie({ n: count ? `${count}` : "" });
  if (count) root.dataset.unread = `${count}`;
  else delete root.dataset.unread;
  if (byId("aia-unread")) byId("aia-unread").textContent = count ? `${count}` : "";
  updateTitle(count);
};

/** @param {{ seconds: number, title: string }} run */
const notify = ({ seconds, title }) => {
  if (!document.hidden || seconds < LONG_S || !isOn()) return;
  try {
    const options = { body: title, tag: "aia" };
    const notification = new Notification(translate("notified"), options);
    notification.onclick = () => {
      window.focus();
      notification.close();
    };
  } catch {
    // phones have no notifications of pages
  }
};

/** Tells the server what is seen here, and returns what it says is not. */
const reportSeen = async () => {
  const { conversation } = root.dataset;
  const seen = isOpen() && !document.hidden ? "1" : "";
  /** @type {{ unread: number, seconds: number, title: string }} */
  let answer;
  try {
    const response = await post(byId("aia-list").dataset.seen, { conversation, seen });
    if (!response.ok || response.redirected) return null;
    answer = await response.json();
  } catch {
    return null; // the network is away: the next answer, or the next page, says it
  }
  showUnread(answer.unread);
  broadcast({ unread: answer.unread });
  return answer;
};

const onMessageDone = async () => {
  const answer = await reportSeen();
  if (answer) notify(answer);
};

onBroadcast(({ unread }) => unread !== undefined && showUnread(unread));
document.addEventListener("visibilitychange", () => {
  if (document.hidden || !("unread" in root.dataset)) return;
  updateTitle(0);
  reportSeen();
});

// --- the same conversation in another tab ---

const showTabsHint = () => {
  const hint = byId("aia-tabs");
  if (!hint?.hidden) return;
  hint.hidden = false;
  // The other tab may not listen to the channel yet.
  write("localStorage", TABS, `${root.dataset.conversation} ${Date.now()}`);
};

/** @param {StorageEvent} event */
const onStorage = ({ key, newValue }) => {
  if (!field() || isNew()) return;
  if (key === TABS && newValue?.startsWith(root.dataset.conversation)) showTabsHint();
  if (key !== draftKey()) return;
  if (document.activeElement !== field()) setText(newValue ?? "");
  showTabsHint();
};

onBroadcast(({ left }) => {
  if (left === root.dataset.conversation && byId("aia-tabs"))
    byId("aia-tabs").hidden = true;
});
addEventListener("pagehide", () => broadcast({ left: root.dataset.conversation }));

/**
 * Takes what another tab has stored, the end of a run, or an answer to be counted.
 *
 * @param {Event} event
 */
export const onEvent = (event) => {
  if (event.type === "storage") return onStorage(/** @type {StorageEvent} */ (event));
  if (event.type === "aia:message-done") return onMessageDone();
  if (document.hidden && "unread" in root.dataset) return null; // reported before
  return reportSeen();
};

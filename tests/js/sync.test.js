import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import { load, openPage, server, until } from "./page.js";

const { document, root, window } = openPage(
  `<a id="aia-list" data-seen="/seen/"></a><span id="aia-unread"></span>
  <p id="aia-tabs" hidden></p><article class="aia-msg"></article>
  <form id="aia-form"><span id="aia-count"></span>
  <textarea id="aia-input" data-max="1000"></textarea></form>`
);
const channels = [];
const { BroadcastChannel } = globalThis;
globalThis.BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    super(name);
    channels.push(this);
  }
};
const { onEvent } = await load("sync");
const other = new BroadcastChannel("aia.kim");
const received = [];
other.onmessage = ({ data }) => received.push(data);
after(() => {
  for (const channel of [...channels, other]) channel.close();
});

const byId = (id) => document.getElementById(id);
const say = (values) => {
  server.answer = () => Response.json(values);
};
const hide = (hidden) =>
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
const messageDone = () => onEvent(new CustomEvent("aia:message-done"));
const stored = (key, newValue) => onEvent({ type: "storage", key, newValue });

beforeEach(() => {
  server.requests.length = 0;
  hide(false);
  document.title = "Orders";
  delete root.dataset.unread;
  byId("aia-tabs").hidden = true;
  byId("aia-input").value = "";
});

suite("the end of an answer", () => {
  test("is reported as seen by a tab that shows it", async () => {
    say({ unread: 0, seconds: 1, title: "" });
    await messageDone();
    const [{ url, values }] = server.requests;
    assert.ok(url.endsWith("/seen/"));
    assert.deepEqual([values.conversation, values.seen], ["c1", "1"]);
  });

  test("is not reported as seen by a tab behind another", async () => {
    hide(true);
    say({ unread: 1, seconds: 1, title: "" });
    await messageDone();
    assert.equal(server.requests[0].values.seen, "");
  });

  test("shows what nobody has seen: on the launcher and in a hidden tab's title", async () => {
    hide(true);
    say({ unread: 2, seconds: 1, title: "" });
    await messageDone();
    assert.equal(byId("aia-unread").textContent, "2");
    assert.equal(root.dataset.unread, "2");
    assert.equal(document.title, "(2) Orders");
    await messageDone();
    assert.equal(document.title, "(2) Orders");
  });

  test("leaves the title of a tab that is looked at alone", async () => {
    say({ unread: 2, seconds: 1, title: "" });
    await messageDone();
    assert.equal(document.title, "Orders");
  });

  test("is told to the other tabs", async () => {
    say({ unread: 33, seconds: 1, title: "" });
    await messageDone();
    await until(() => received.some(({ unread }) => unread === 33));
  });

  test("changes nothing when the server or the network is away", async () => {
    root.dataset.unread = "1";
    for (const answer of [
      () => Response.json({ unread: 9 }, { status: 500 }),
      () => Promise.reject(new TypeError("away"))
    ]) {
      server.answer = answer;
      await messageDone();
    }
    assert.equal(root.dataset.unread, "1");
  });
});

test("the number of another tab is shown here too, and none takes it away", async () => {
  other.postMessage({ unread: 5 });
  await until(() => byId("aia-unread").textContent === "5");
  other.postMessage({ unread: 0 });
  await until(() => byId("aia-unread").textContent === "");
  assert.equal(root.dataset.unread, undefined);
});

test("a tab that is looked at again reports what it shows", async () => {
  root.dataset.unread = "2";
  document.title = "(2) Orders";
  say({ unread: 0, seconds: 0, title: "" });
  document.dispatchEvent(new window.Event("visibilitychange"));
  assert.equal(document.title, "Orders");
  await until(() => root.dataset.unread === undefined);
});

suite("the same conversation in another tab", () => {
  const DRAFT = "aia.draft.kim.c1";

  test("shows here what is typed there, with a hint", () => {
    stored(DRAFT, "typed there");
    assert.equal(byId("aia-input").value, "typed there");
    assert.ok(!byId("aia-tabs").hidden);
  });

  test("does not take the text from under somebody who types here", () => {
    byId("aia-input").focus();
    byId("aia-input").value = "typed here";
    stored(DRAFT, "typed there");
    assert.equal(byId("aia-input").value, "typed here");
    byId("aia-input").blur();
  });

  test("is another one's business where the draft is of another conversation", () => {
    stored("aia.draft.kim.c2", "typed there");
    assert.equal(byId("aia-input").value, "");
    assert.ok(byId("aia-tabs").hidden);
  });

  test("meets by the storage, and answers once", () => {
    localStorage.removeItem("aia.tabs");
    stored("aia.tabs", "c1 123");
    assert.ok(!byId("aia-tabs").hidden);
    assert.match(localStorage.getItem("aia.tabs"), /^c1 \d+$/);
    localStorage.removeItem("aia.tabs");
    stored("aia.tabs", "c1 124");
    assert.equal(localStorage.getItem("aia.tabs"), null);
  });

  test("is alone again when the other tab has left", async () => {
    stored("aia.tabs", "c1 123");
    other.postMessage({ left: "c2" });
    other.postMessage({ unread: 8 });
    await until(() => byId("aia-unread").textContent === "8");
    assert.ok(!byId("aia-tabs").hidden);
    other.postMessage({ left: "c1" });
    await until(() => byId("aia-tabs").hidden);
  });
});

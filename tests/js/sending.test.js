import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, server, settle } from "./page.js";

const { document, root } = openPage(
  `<template id="aia-t-signed-out"><p>Sign in again.</p></template>
  <template id="aia-t-sending"><article class="aia-ghost"><p class="aia-text"></p>
  </article></template><div id="aia-log"></div>
  <form id="aia-form" action="/send/"><input name="key" value="k0">
  <span id="aia-count"></span><textarea id="aia-input" data-max="1000"></textarea></form>`
);
const { addPending, pendingMessages } = await load("draft");
const { deliver, isYoung, resume } = await load("sending");
const byId = (id) => document.getElementById(id);
const ghosts = () => [...document.querySelectorAll(".aia-ghost")];
const keys = () => pendingMessages().map(({ key }) => key);
const sent = () => server.requests.map(({ values }) => values.text);

const message = (key, more = {}) => {
  const item = {
    key,
    text: `text ${key}`,
    conversation: "c1",
    time: Date.now(),
    ...more
  };
  addPending(item);
  return item;
};
const answer = (...statuses) => {
  server.answer = () =>
    new Response(null, {
      status: statuses.length > 1 ? statuses.shift() : statuses[0]
    });
};
const emit = (name, detail) =>
  root.dispatchEvent(new CustomEvent(`aia:${name}`, { detail }));

beforeEach(() => {
  server.requests.length = 0;
  sessionStorage.clear();
  localStorage.clear();
  byId("aia-log").innerHTML = "";
  byId("aia-input").value = "";
  byId("aia-notice").textContent = "";
  answer(204);
});

suite("a message that is sent", () => {
  test("stands in the conversation at once, and waits there for the real one", async () => {
    deliver(message("k1"));
    assert.equal(ghosts()[0].textContent.trim(), "text k1");
    await settle(20);
    assert.equal(ghosts()[0].dataset.send, "sent");
    assert.deepEqual(keys(), ["k1"]);
  });

  test("gives way to the real one", async () => {
    deliver(message("k1"));
    await settle(20);
    const real = document.createElement("article");
    real.dataset.key = "k1";
    byId("aia-log").append(real);
    emit("frame");
    assert.deepEqual([ghosts(), keys()], [[], []]);
  });

  test("is settled when the server says that it has it", async () => {
    deliver(message("k1"));
    await settle(20);
    emit("accepted", "k1");
    assert.deepEqual([ghosts(), keys()], [[], []]);
  });

  test("takes its draft along, but no other one", async () => {
    localStorage.setItem("aia.draft.kim.new", "text k1");
    localStorage.setItem("aia.draft.kim.c1", "something else");
    deliver(message("k1"));
    await settle(20);
    assert.equal(localStorage.getItem("aia.draft.kim.new"), null);
    assert.equal(localStorage.getItem("aia.draft.kim.c1"), "something else");
  });

  test("arrives in the order in which it was written", async () => {
    const releases = [];
    server.answer = () =>
      new Promise((done) =>
        releases.push(() => done(new Response(null, { status: 204 })))
      );
    deliver(message("k1"));
    deliver(message("k2"));
    await settle(20);
    assert.deepEqual(sent(), ["text k1"]);
    releases[0]();
    await settle(20);
    assert.deepEqual(sent(), ["text k1", "text k2"]);
    releases[1]();
    await settle(20);
  });

  test("offers the tools of the page that are available", async () => {
    const parameters = { type: "object" };
    root.tools.set("a", { description: "A", parameters, handler() {} });
    root.tools.set("b", { description: "B", parameters, available: () => false });
    deliver(message("k1"));
    await settle(20);
    const tools = JSON.parse(server.requests[0].values.tools);
    assert.deepEqual(tools, [{ name: "a", description: "A", parameters }]);
    root.tools.clear();
  });
});

suite("a message that is refused", () => {
  test("is given back into the field, with its key and the reason", async () => {
    answer(400);
    deliver(message("k1"));
    await settle(20);
    assert.equal(byId("aia-input").value, "text k1");
    assert.equal(byId("aia-form").elements.key.value, "k1");
    assert.equal(byId("aia-notice").textContent, "Refused.");
    assert.deepEqual([ghosts(), keys()], [[], []]);
  });

  test("comes before what was typed meanwhile", async () => {
    answer(400);
    byId("aia-input").value = "typed";
    deliver(message("k1"));
    await settle(20);
    assert.equal(byId("aia-input").value, "text k1\n\ntyped");
  });

  test("of another conversation becomes its draft, unless there is one", async () => {
    answer(400);
    localStorage.setItem("aia.draft.kim.c3", "kept");
    deliver(message("k1", { conversation: "c2" }));
    deliver(message("k2", { conversation: "c3" }));
    await settle(20);
    assert.equal(byId("aia-input").value, "");
    assert.equal(localStorage.getItem("aia.draft.kim.c2"), "text k1");
    assert.equal(localStorage.getItem("aia.draft.kim.c3"), "kept");
  });
});

suite("a server that is away", () => {
  const retry = async (context, statuses) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    answer(...statuses);
    deliver(message("k1"));
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };

  for (const status of [502, 503, 504])
    test(`with ${status} is asked again by the same key`, async (context) => {
      await retry(context, [status, 204]);
      assert.equal(ghosts()[0].dataset.send, "later");
      context.mock.timers.tick(3000);
      for (let n = 0; n < 30; n += 1) await Promise.resolve();
      const asked = server.requests.map(({ values }) => values.key);
      assert.deepEqual(asked, ["k1", "k1"]);
      assert.equal(ghosts()[0].dataset.send, "sent");
    });

  test("with 500 has answered: it is not asked again", async (context) => {
    await retry(context, [500]);
    assert.equal(sent().length, 1);
    assert.equal(byId("aia-input").value, "text k1");
  });
});

suite("what an earlier page left behind", () => {
  test("is sent once more while it is young", async () => {
    resume(message("k1"));
    await settle(20);
    assert.deepEqual(sent(), ["text k1"]);
  });

  test("is nothing any more where the page shows it", async () => {
    byId("aia-log").innerHTML = '<article data-key="k1"></article>';
    resume(message("k1"));
    await settle(20);
    assert.deepEqual([sent(), keys()], [[], []]);
  });

  test("is given back after ten minutes", async () => {
    const item = message("k1", { time: Date.now() - 10 * 60 * 1000 });
    assert.ok(!isYoung(item));
    resume(item);
    await settle(20);
    assert.deepEqual(sent(), []);
    assert.equal(byId("aia-input").value, "text k1");
  });

  test("shows its conversation where the page was drawn without it", async () => {
    const shown = [];
    root.addEventListener("aia:elsewhere", ({ detail }) => shown.push(detail));
    resume(message("k1", { conversation: "c9" }));
    await settle(20);
    assert.deepEqual(shown, ["c9"]);
  });
});

test("a session that is over gives the message back and says so", async () => {
  answer(401);
  deliver(message("k1"));
  await settle(20);
  assert.equal(byId("aia-input").value, "text k1");
  assert.equal(root.dataset.state, "signed-out");
});

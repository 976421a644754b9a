import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, server, settle, until } from "./page.js";

const { document } = openPage(
  `<template id="aia-t-sending"><article class="aia-ghost"><p class="aia-text"></p>
  </article></template><div id="aia-log"></div><ul id="aia-context"></ul>
  <form id="aia-form" action="/send/" data-aia-hx-post="/send/"
    data-aia-hx-target="#aia-notice" data-aia-hx-swap="innerHTML"
    data-aia-hx-vals='{"campaign": "spring"}'>
  <input type="hidden" name="csrfmiddlewaretoken" value="token"><input name="key">
  <input name="ticket" value="7"><input type="checkbox" name="tag" value="a" checked>
  <input type="checkbox" name="tag" value="b" checked><span id="aia-count"></span>
  <select id="aia-look" name="look_only"><option value="1" selected></option></select>
  <textarea id="aia-input" name="text" data-max="1000"></textarea></form>`
);
const { CSS } = globalThis;
CSS.supports ??= () => true;
await load("composer");
const { startHtmx } = await load("requests");
const byId = (id) => document.getElementById(id);

const send = async (text) => {
  byId("aia-input").value = text;
  byId("aia-form").requestSubmit();
  const sent = () => server.requests.filter(({ method }) => method === "POST");
  await until(() => sent().length);
  await settle(20);
  return sent();
};

beforeEach(() => {
  server.requests.length = 0;
  sessionStorage.clear();
  server.answer = () => new Response(null, { status: 204 });
});

suite("a field that the site has added", () => {
  test("is sent with the message before htmx is there", async () => {
    const [{ url, values }] = await send("early");

    assert.ok(url.endsWith("/send/"));
    assert.deepEqual([values.text, values.ticket], ["early", "7"]);
    assert.deepEqual([values.look_only, values.campaign], ["1", undefined]);
  });

  test("is sent with the message, once, with what htmx adds", async () => {
    await startHtmx();

    const requests = await send("with htmx");

    assert.equal(requests.length, 1);
    const [{ values }] = requests;
    assert.deepEqual([values.text, values.ticket], ["with htmx", "7"]);
    assert.equal(values.campaign, "spring");
    assert.deepEqual(
      [values.path, values.conversation],
      ["/admin/shop/order/?q=1", "c1"]
    );
  });

  test("keeps all of its values, and what is of the page stays out", async () => {
    await startHtmx();

    await send("several");

    const { body } = server;
    assert.deepEqual(body.getAll("tag"), ["a", "b"]);
    assert.equal(body.getAll("csrfmiddlewaretoken").length, 1);
  });
});

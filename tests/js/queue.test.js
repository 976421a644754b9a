import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, server } from "./page.js";

const { document, root } = openPage(
  `<template id="aia-t-signed-out"><p>Sign in again.</p></template>
  <form id="aia-form" action="/send/"><input name="key"><span id="aia-count"></span>
    <textarea id="aia-input" data-max="1000"></textarea></form>
  <div id="aia-queue"><li><p class="aia-text">Later, please</p>
    <form data-aia-hx-post="/queue/7/" data-aia-hx-trigger="aia:use"
      data-aia-hx-target="#aia-notice" data-aia-hx-swap="innerHTML"><input type="hidden" name="message" value="7">
    <button name="do" value="edit"></button><button name="do" value="up"></button>
    <button name="do" value="down"></button></form></li></div><button id="other"></button>`
);
const queue = await load("queue");
await load("ws"); // it hears when the session is over
const byId = (id) => document.getElementById(id);
const button = (value) => document.querySelector(`button[value=${value}]`);
const answer = (status, body = null, headers = {}) => {
  server.answer = () => new Response(body, { status, headers });
};

beforeEach(() => {
  server.requests.length = 0;
  byId("aia-input").value = "";
  byId("aia-notice").textContent = "";
  byId("other").focus();
  answer(204);
});

test("a button posts its form with its own value", async () => {
  await queue.use(button("up"));

  const [{ url, method, values }] = server.requests;
  assert.deepEqual([url.endsWith("/queue/7/"), method], [true, "POST"]);
  assert.equal(values.message, "7");
  assert.equal(values.do, "up");
});

suite("Edit", () => {
  test("brings the text back into the field", async () => {
    await queue.use(button("edit"));
    assert.equal(byId("aia-input").value, "Later, please");
    assert.equal(document.activeElement.id, "aia-input");
  });

  test("puts it before what was typed meanwhile", async () => {
    byId("aia-input").value = "  typed ";
    await queue.use(button("edit"));
    assert.equal(byId("aia-input").value, "Later, please\n\ntyped");
  });

  test("leaves the field alone when the server refuses", async () => {
    answer(409);
    await queue.use(button("edit"));
    assert.equal(byId("aia-input").value, "");
    assert.equal(byId("aia-notice").textContent, "Refused.");
  });
});

test("moving a message down leaves the focus where it is", async () => {
  await queue.use(button("down"));
  assert.equal(document.activeElement.id, "other");
});

test("a stale token is explained in its own words", async () => {
  answer(403);
  await queue.use(button("up"));
  assert.equal(byId("aia-notice").textContent, "Reload.");
});

test("a limit is explained by the server", async () => {
  answer(429, "<p>In a minute.</p>", { "HX-Retarget": "#aia-notice" });
  await queue.use(button("up"));
  assert.equal(byId("aia-notice").textContent, "In a minute.");
});

test("a network that is away is a refusal, not an error", async (context) => {
  context.mock.method(console, "error", () => {}); // where htmx tells of it
  server.answer = () => Promise.reject(new TypeError("away"));
  await queue.use(button("up"));
  assert.equal(byId("aia-notice").textContent, "Refused.");
});

test("the end of an answer settles what was said", async () => {
  answer(409);
  await queue.use(button("up"));
  root.dispatchEvent(new CustomEvent("aia:message-done"));
  assert.equal(byId("aia-notice").textContent, "");
});

test("a session that is over is said, with the way back", async () => {
  answer(401);
  await queue.use(button("up"));
  assert.equal(byId("aia-notice").textContent, "Sign in again.");
  assert.equal(root.dataset.state, "signed-out");
});

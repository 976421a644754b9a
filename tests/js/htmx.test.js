import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { load, openPage, server, settle } from "./page.js";

const { document, root, window } = openPage(
  `<a id="ours" data-aia-hx-get="/ours/" data-aia-hx-target="#aia-notice"
    data-aia-hx-swap="innerHTML">ours</a>
  <a id="code" data-aia-hx-get="/code/" data-aia-hx-vals="js:{a: (window.ran = 1)}"
    data-aia-hx-target="#aia-notice" data-aia-hx-swap="innerHTML">code</a>`,
  `<a id="theirs" hx-get="/theirs/" data-aia-hx-get="/theirs/">of the page</a>
  <div hx-target:inherited="#theirs" hx-confirm:inherited="Really?"></div>`
);
const hosts = { version: "of the page" };
window.htmx = hosts;
const meta = document.createElement("meta");
Object.assign(meta, { name: "htmx-config", content: '{"prefix": "x-"}' });
document.head.append(meta);
const { startHtmx } = await load("requests");
await startHtmx();
const byId = (id) => document.getElementById(id);
const notice = () => byId("aia-notice").textContent;

const click = async (id, answer = new Response("<b>drawn</b>")) => {
  server.requests.length = 0;
  server.answer = () => answer;
  byId("aia-notice").textContent = "";
  byId(id).click();
  await settle(20);
  return server.requests.map(({ url }) => url);
};

suite("htmx of the panel", () => {
  test("leaves the page's name and configuration as they were", () => {
    assert.equal(window.htmx, hosts);
    const configs = [...document.querySelectorAll("meta[name=htmx-config]")];
    assert.deepEqual(configs, [meta]);
  });

  test("sends a request of the panel, once, and draws the answer", async () => {
    assert.deepEqual(await click("ours"), ["/ours/"]);
    assert.equal(notice(), "drawn");
  });

  test("knows nothing of the page", async () => {
    assert.deepEqual(await click("theirs"), []);
  });

  test("evaluates nothing", async (context) => {
    const error = context.mock.method(console, "error", () => {});
    assert.deepEqual(await click("code"), []);
    assert.equal(window.ran, undefined);
    assert.match(`${error.mock.calls[0].arguments[1]}`, /evaluates no attribute/);
  });

  test("draws a refusal in its place, whatever its status", async () => {
    const headers = { "HX-Retarget": "#aia-notice" };
    await click("ours", new Response("In a minute.", { status: 429, headers }));
    assert.equal(notice(), "In a minute.");
  });

  test("draws no page that has failed", async () => {
    root.dataset.failed = "It failed.";
    await click("ours", new Response("<h1>500</h1>", { status: 500 }));
    assert.equal(notice(), "It failed.");
  });

  test("tells that the session is over", async () => {
    const heard = [];
    root.addEventListener("aia:signed-out", (event) => heard.push(event));
    await click("ours", new Response("Sign in", { status: 401 }));
    assert.equal(heard.length, 1);
    assert.equal(notice(), "");
  });
});

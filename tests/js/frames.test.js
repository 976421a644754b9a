import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, settle } from "./page.js";

const { document, root } = openPage(
  `<form id="aia-stop-form"><input name="run" value=""></form>
  <div id="aia-scroll"><div id="aia-log"></div></div><textarea id="aia-input"></textarea>`,
  '<form><input name="csrfmiddlewaretoken" value="token"></form>'
);
const { dropFrames, flush, receive } = await load("frame_queue");
const { startHtmx } = await load("requests");
await startHtmx();
await flush();
const byId = (id) => document.getElementById(id);
const log = byId("aia-log");
const answer = (inner) => `<article id="r-1" class="aia-msg">${inner}</article>`;
/** The part of a frame that the server makes of an operation on an element. */
const part = (swap, id, html = "") =>
  `<hx-partial data-aia-hx-target="#${id}" data-aia-hx-swap="${swap}">${html}</hx-partial>`;
const upsert = (html) => part("upsert", "aia-log", html);

/** Receives a frame of no run, and has it drawn. */
const apply = (frame) => {
  receive({ s: 0, ...frame });
  return flush();
};
const swap = (...parts) => apply({ html: parts.join("") });
/** The HTML without what htmx notes on elements that it has processed. */
const html = (element = log) =>
  element.innerHTML.replace(/ (data-htmx-powered="true"|class="")/g, "");

const heard = (name) => {
  const details = [];
  root.addEventListener(`aia:${name}`, ({ detail }) => details.push(detail));
  return details;
};

beforeEach(async () => {
  log.innerHTML = "";
  root.dataset.run = "r1";
  root.dataset.seq = "4";
});

suite("HTML", () => {
  test("is added behind what is there", async () => {
    await swap(upsert('<p id="a">one</p>'), upsert('<p id="b">two</p>'));
    assert.equal(log.textContent, "onetwo");
  });

  test("of an id that is there takes its place, so twice is harmless", async () => {
    await swap(upsert(answer("first")));
    const article = byId("r-1");
    await swap(upsert(answer("second")));
    await swap(upsert(answer("second")));
    assert.equal(html(), answer("second"));
    assert.equal(byId("r-1"), article);
  });

  test("becomes the content of an element, or the element itself", async () => {
    await swap(upsert(answer("first")));
    await swap(part("innerMorph", "r-1", "<b>bold</b>"));
    assert.equal(html(), answer("<b>bold</b>"));
    await swap(
      part("outerMorph", "r-1", '<article id="r-1" class="x">other</article>')
    );
    assert.equal(html(), '<article id="r-1" class="x">other</article>');
  });

  test("is taken away", async () => {
    await swap(upsert('<p id="a"></p><p id="b"></p>'));
    await swap(part("delete", "a"), part("innerMorph", "aia-log", '<p id="b"></p>'));
    assert.equal(html(), '<p id="b"></p>');
  });

  test("for an element that is not there is left out", async () => {
    await swap(part("delete", "nowhere"), upsert('<p id="a"></p>'));
    assert.equal(html(), '<p id="a"></p>');
  });

  test("has no scripts, and its forms get the token of the page, once", async () => {
    const form = '<form id="f" method="post"><input name="a"></form>';
    await swap(upsert(answer(`<script>window.ran = 1</script>${form}`)));
    await swap(upsert(answer(form)));
    const tokens = byId("f").querySelectorAll("[name=csrfmiddlewaretoken]");
    assert.deepEqual(
      [...tokens].map(({ value }) => value),
      ["token"]
    );
    assert.equal(window.ran, undefined);
  });
});

suite("a text that grows", () => {
  beforeEach(() => swap(upsert('<div id="m-1" class="aia-body"></div>')));

  const body = () => byId("m-1").innerHTML;
  const block = (n, text) => `<div id="m-1-b${n}" class="aia-b">${text}</div>`;

  test("gets new blocks, and its last one is drawn anew", async () => {
    await apply({ grow: [["m-1-b0", "<p>one</p>"]] });
    await apply({
      grow: [
        ["m-1-b0", "<p>one, two</p>"],
        ["m-1-b1", "three"]
      ]
    });
    assert.equal(body(), block(0, "<p>one, two</p>") + block(1, "three"));
  });

  test("leaves a closed block alone, and calls no htmx", async () => {
    await apply({ grow: [["m-1-b0", "closed"]] });
    const closed = byId("m-1-b0");
    const swaps = [];
    root.addEventListener("htmx.before.swap", (event) => swaps.push(event));
    await apply({ grow: [["m-1-b1", "open"]] });
    assert.equal(byId("m-1-b0"), closed);
    assert.deepEqual(swaps, []);
  });

  test("that is not there is left out", async () => {
    await apply({ grow: [["m-2-b0", "lost"]] });
    assert.equal(body(), "");
  });

  test("is added to what was thought, as text", async () => {
    await swap(upsert('<div id="t-1-text">a</div>'));
    await apply({
      grow: [
        ["t-1-text", " &lt;i&gt;"],
        ["t-1-text", " b"]
      ]
    });
    assert.equal(byId("t-1-text").innerHTML, "a &lt;i&gt; b");
    assert.equal(byId("t-1-text").childNodes.length, 1);
  });

  test("grows in what the same frame has made", async () => {
    await apply({
      html: upsert('<div id="m-3" class="aia-body"></div>'),
      grow: [["m-3-b0", "at once"]]
    });
    assert.equal(byId("m-3").textContent, "at once");
  });
});

suite("what is told", () => {
  test("is the state of the run, and that it is no longer busy", async () => {
    await swap(upsert('<article id="r-1" aria-busy="true"></article>'));
    await apply({ state: "streaming" });
    assert.deepEqual([root.dataset.state, root.dataset.busy], ["streaming", "run"]);
    assert.ok(byId("r-1").hasAttribute("aria-busy"));
    await apply({ state: "idle" });
    assert.equal(root.dataset.busy, undefined);
    assert.ok(!byId("r-1").hasAttribute("aria-busy"));
  });

  test("is why a run thinks for long", async () => {
    await apply({ state: "warming" });
    assert.equal(root.dataset.state, "thinking");
    assert.ok(root.hasAttribute("data-warming"));
    await apply({ state: "streaming" });
    assert.ok(!root.hasAttribute("data-warming"));
    await apply({ state: "idle" });
  });

  test("are events of the page", async () => {
    const events = heard("custom");
    const keys = heard("accepted");
    await apply({
      tell: [
        ["custom", { a: 1 }],
        ["accepted", "key-1"]
      ]
    });
    assert.deepEqual([events, keys], [[{ a: 1 }], ["key-1"]]);
  });

  test("is that the page is not what it shows any more", async () => {
    document.body.insertAdjacentHTML("beforeend", '<p id="aia-stale:/a/" hidden></p>');
    await apply({ tell: [["stale", "aia-stale:/a/"]] });
    // The page cannot be fetched here, so it says so instead of following.
    for (let n = 0; n < 100 && byId("aia-stale:/a/").hidden; n++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(!byId("aia-stale:/a/").hidden);
  });
});

suite("a frame", () => {
  test("of a run says how far the page is, and which run a Stop is for", async () => {
    receive({ r: "r1", s: 9 });
    await flush();
    assert.equal(root.dataset.seq, "9");
    assert.equal(byId("aia-stop-form").elements.run.value, "r1");
  });

  test("of what is drawn already is left out", async () => {
    receive({ r: "r1", s: 3, html: upsert('<p id="old">old</p>') });
    receive({ r: "r1", s: 4, html: upsert('<p id="last">last</p>') });
    await flush();
    assert.equal(log.textContent, "last");
    assert.equal(root.dataset.seq, "4");
  });

  test("of another run counts anew", async () => {
    receive({ r: "r2", s: 1, html: upsert('<p id="new">new</p>') });
    await flush();
    assert.deepEqual([root.dataset.run, root.dataset.seq], ["r2", "1"]);
  });

  test("that has more says not yet how far the page is", async () => {
    receive({ r: "r1", s: 7, more: true, html: upsert('<p id="a">a</p>') });
    await flush();
    assert.equal(root.dataset.seq, "4");
    receive({ r: "r1", s: 7 });
    await flush();
    assert.equal(root.dataset.seq, "7");
  });

  test("that fails does not keep the next one", async (context) => {
    const error = context.mock.method(console, "error", () => {});
    receive({ r: "r1", s: 5, grow: [null] });
    receive({ r: "r1", s: 6, html: upsert('<p id="a">a</p>') });
    await flush();
    assert.equal(log.textContent, "a");
    assert.equal(error.mock.callCount(), 1);
  });

  test("without a number is none", async () => {
    receive({ r: "r1" });
    receive(null);
    await flush();
    assert.equal(root.dataset.seq, "4");
  });

  test("waits for the next paint, with those that come meanwhile", async () => {
    const painted = heard("frame");
    receive({ r: "r1", s: 5, html: upsert('<p id="a">a</p>') });
    receive({ r: "r1", s: 6, html: upsert('<p id="b">b</p>') });
    assert.equal(log.textContent, "");
    await settle(20);
    assert.equal(log.textContent, "ab");
    assert.deepEqual(painted, [{ seq: 6 }]);
  });

  test("that waits is dropped with its conversation", async () => {
    receive({ r: "r1", s: 5, html: upsert('<p id="a">a</p>') });
    dropFrames();
    await settle(20);
    assert.equal(log.textContent, "");
  });
});

suite("what a person did", () => {
  const typed = () => byId("t");
  const fold = '<details id="d"><summary>s</summary></details>';
  const draw = (value) =>
    swap(upsert(answer(`${fold}<input id="t" value="${value}">`)));

  beforeEach(() => draw("a"));

  test("typed text stays when its element is drawn anew", async () => {
    typed().value = "typed";
    await draw("b");
    assert.equal(typed().value, "typed");
  });

  test("a field that was not changed takes the new value", async () => {
    await draw("b");
    assert.equal(typed().value, "b");
  });

  test("a fold stays as the person left it", async () => {
    byId("d").open = true;
    byId("d").dataset.touched = "1";
    await draw("b");
    await draw("c");
    assert.ok(byId("d").open);
  });

  test("a fold that the server opened closes with it", async () => {
    byId("d").open = true;
    await draw("b");
    assert.ok(!byId("d").open);
  });

  test("the focus stays in the same field", async () => {
    typed().focus();
    await draw("b");
    assert.equal(document.activeElement, typed());
  });

  test("the focus stays on a card whose call has another id now", async () => {
    const card = (id) => `<details id="${id}"><summary>s</summary></details>`;
    await swap(upsert(answer(card("before") + card("c-1-0-d"))));
    document.querySelectorAll("summary")[1].focus();
    await swap(part("innerMorph", "r-1", card("before") + card("c-2-d")));
    assert.equal(document.activeElement, byId("c-2-d").firstElementChild);
  });

  test("the focus of a button goes to no fold beside it", async () => {
    const box = (inner) => `<div id="box">${fold}${inner}</div>`;
    await swap(upsert(answer(box("<button>Approve</button>"))));
    document.querySelector("button").focus();
    await swap(part("innerMorph", "r-1", box("<p>Approved</p>")));
    assert.equal(document.activeElement, byId("r-1"));
  });

  test("the focus goes to the message when its element is gone", async () => {
    typed().focus();
    await swap(part("innerMorph", "r-1", "<p>answered</p>"));
    assert.equal(document.activeElement, byId("r-1"));
  });
});

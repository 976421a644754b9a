import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, settle } from "./page.js";

const { document, root } = openPage(
  `<form id="aia-stop-form"><input name="run" value=""></form>
  <div id="aia-scroll"><div id="aia-log"></div></div><textarea id="aia-input"></textarea>`,
  '<form><input name="csrfmiddlewaretoken" value="token"></form>'
);
const { draw, dropFrames, flush, receive } = await load("frames");
const byId = (id) => document.getElementById(id);
const log = byId("aia-log");
const answer = (inner) => `<article id="r-1" class="aia-msg">${inner}</article>`;

/** Receives operations as one frame of no run, and has it drawn. */
const apply = (...operations) => {
  receive({ o: operations });
  flush();
};

const heard = (name) => {
  const details = [];
  root.addEventListener(`aia:${name}`, ({ detail }) => details.push(detail));
  return details;
};

beforeEach(() => {
  log.innerHTML = "";
  root.dataset.run = "r1";
  root.dataset.seq = "4";
});

suite("an operation", () => {
  test("append adds elements behind those that are there", () => {
    apply(["append", "aia-log", "<p>one</p>"], ["append", "aia-log", "<p>two</p>"]);
    assert.equal(log.textContent, "onetwo");
  });

  test("append of an id that is there replaces it, so twice is harmless", () => {
    apply(["append", "aia-log", answer("first")]);
    apply(["append", "aia-log", answer("second")]);
    apply(["append", "aia-log", answer("second")]);
    assert.equal(log.innerHTML, answer("second"));
  });

  test("replace draws the content, outer the element itself", () => {
    apply(["append", "aia-log", answer("first")]);
    apply(["replace", "r-1", "<b>bold</b>"]);
    assert.equal(log.innerHTML, answer("<b>bold</b>"));
    apply(["outer", "r-1", '<p id="r-1">other</p>']);
    assert.equal(log.innerHTML, '<p id="r-1">other</p>');
  });

  test("outer with nothing, and remove, take the element away", () => {
    apply(["append", "aia-log", '<p id="a"></p><p id="b"></p>']);
    apply(["outer", "a", ""], ["remove", "b"]);
    assert.equal(log.innerHTML, "");
  });

  test("text goes into the last text there is", () => {
    apply(["append", "aia-log", '<p id="p">a <b>bold</b> end</p>']);
    apply(["text", "p", "ing"], ["text", "p", " <i>"]);
    assert.equal(byId("p").innerHTML, "a <b>bold</b> ending &lt;i&gt;");
  });

  test("attr sets and removes data, aria and state", () => {
    apply(["append", "aia-log", answer("")]);
    apply(["attr", "r-1", "aria-busy", "true"], ["attr", "r-1", "data-x", "1"]);
    assert.equal(byId("r-1").getAttribute("aria-busy"), "true");
    apply(["attr", "r-1", "aria-busy", null]);
    assert.ok(!byId("r-1").hasAttribute("aria-busy"));
  });

  for (const name of ["onclick", "href", "style", "src", "class"])
    test(`attr never sets ${name}`, () => {
      apply(["append", "aia-log", answer("")]);
      apply(["attr", "r-1", name, "x"]);
      assert.notEqual(byId("r-1").getAttribute(name), "x");
    });

  test("attr of the root's state is the state of the run", () => {
    apply(["attr", "aia", "data-state", "streaming"]);
    assert.equal(root.dataset.state, "streaming");
    assert.equal(root.dataset.busy, "run");
    apply(["attr", "aia", "data-state", "idle"]);
    assert.equal(root.dataset.busy, undefined);
  });

  test("event and accepted are events of the page", () => {
    const events = heard("custom");
    const keys = heard("accepted");
    apply(["event", "custom", { a: 1 }], ["accepted", "key-1"]);
    assert.deepEqual([events, keys], [[{ a: 1 }], ["key-1"]]);
  });

  test("on an element that is not there, or of no known name, is left out", () => {
    apply(["remove", "nowhere"], ["eval", "aia-log"], ["append", "aia-log", "<p></p>"]);
    assert.equal(log.innerHTML, "<p></p>");
  });

  test("that fails does not keep the rest of its frame", (context) => {
    const error = context.mock.method(console, "error", () => {});
    apply(["attr", "aia-log", "data-a b", "1"], ["append", "aia-log", "<p></p>"]);
    assert.equal(log.innerHTML, "<p></p>");
    assert.equal(error.mock.callCount() <= 1, true);
  });
});

suite("a frame", () => {
  test("of a run says how far the page is, and which run a Stop is for", () => {
    receive({ r: "r1", s: 9, o: [] });
    flush();
    assert.equal(root.dataset.seq, "9");
    assert.equal(byId("aia-stop-form").elements.run.value, "r1");
  });

  test("of what is drawn already is left out", () => {
    receive({ r: "r1", s: 3, o: [["append", "aia-log", "<p>old</p>"]] });
    receive({ r: "r1", s: 4, o: [["append", "aia-log", "<p>last</p>"]] });
    flush();
    assert.equal(log.textContent, "last");
    assert.equal(root.dataset.seq, "4");
  });

  test("of another run counts anew", () => {
    receive({ r: "r2", s: 1, o: [["append", "aia-log", "<p>new</p>"]] });
    flush();
    assert.deepEqual([root.dataset.run, root.dataset.seq], ["r2", "1"]);
  });

  test("without operations is none", () => {
    receive({ r: "r1", s: 99 });
    receive(null);
    flush();
    assert.equal(root.dataset.seq, "4");
  });

  test("waits for the next paint, with those that come meanwhile", async () => {
    const painted = heard("frame");
    receive({ r: "r1", s: 5, o: [["append", "aia-log", "<p>a</p>"]] });
    receive({ r: "r1", s: 6, o: [["append", "aia-log", "<p>b</p>"]] });
    assert.equal(log.textContent, "");
    await settle(20);
    assert.equal(log.textContent, "ab");
    assert.deepEqual(painted, [{ seq: 6 }]);
  });

  test("that waits is dropped with its conversation", async () => {
    receive({ r: "r1", s: 5, o: [["append", "aia-log", "<p>a</p>"]] });
    dropFrames();
    await settle(20);
    assert.equal(log.textContent, "");
  });
});

suite("what a person did", () => {
  const typed = () => byId("t");

  beforeEach(() => {
    apply([
      "append",
      "aia-log",
      answer('<details id="d"><summary>s</summary></details><input id="t" value="a">')
    ]);
  });

  const again = () =>
    apply([
      "append",
      "aia-log",
      answer('<details id="d"><summary>s</summary></details><input id="t" value="b">')
    ]);

  test("typed text stays when its element is drawn anew", () => {
    typed().value = "typed";
    again();
    assert.equal(typed().value, "typed");
  });

  test("a field that was not changed takes the new value", () => {
    again();
    assert.equal(typed().value, "b");
  });

  test("a fold stays as the person left it", () => {
    byId("d").open = true;
    byId("d").dataset.touched = "1";
    again();
    assert.ok(byId("d").open);
  });

  test("a fold that the server opened closes with it", () => {
    byId("d").open = true;
    again();
    assert.ok(!byId("d").open);
  });

  test("the focus stays in the same field", () => {
    typed().focus();
    again();
    assert.equal(document.activeElement, typed());
  });

  test("the focus goes to the message when its element is gone", () => {
    typed().focus();
    draw(byId("r-1"), "<p>answered</p>");
    assert.equal(document.activeElement, byId("r-1"));
  });
});

test("a new form gets the token of the page, once", () => {
  const form = '<form id="f"><input name="a"></form>';
  apply(["append", "aia-log", answer(form)]);
  apply(["replace", "r-1", form]);
  const tokens = byId("f").querySelectorAll("[name=csrfmiddlewaretoken]");
  assert.deepEqual(
    [...tokens].map(({ value }) => value),
    ["token"]
  );
});

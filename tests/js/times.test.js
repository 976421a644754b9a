import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { load, openPage } from "./page.js";

openPage('<p aria-busy="true"><b data-clock="state" data-after="3"></b></p>');
const { ago, clockOf, timeLeft } = await load("clock");
const { changedAt, setRunState } = await load("state");

suite("the time that a card has left", () => {
  for (const [seconds, text] of [
    [2 * 3600 + 59, "in 2 hours"],
    [3599, "in 59 minutes"],
    [61, "in 1 minute"],
    [59.9, "in 59 seconds"],
    [0.5, "in 0 seconds"],
    [-5, "in 0 seconds"]
  ])
    test(`of ${seconds} s is "${text}"`, () => {
      assert.equal(timeLeft(seconds, "en"), text);
    });

  test("is said in the language of the page", () => {
    assert.equal(timeLeft(120, "de"), "in 2 Minuten");
  });
});

suite("the clock of a limit", () => {
  for (const [seconds, text] of [
    [5, "0:05"],
    [65, "1:05"],
    [3599, "59:59"],
    [3600, "1:00:00"],
    [36_061, "10:01:01"]
  ])
    test(`shows ${seconds} s as ${text}`, () => assert.equal(clockOf(seconds), text));
});

suite("the seconds of a state", () => {
  const shown = () => document.querySelector("[data-clock]").textContent;

  test("are there with what is drawn, and go with the next state", () => {
    document.getElementById("aia-strings").dataset.seconds = "%s s";
    setRunState("thinking");
    changedAt.state -= 4000;
    document.getElementById("aia").dispatchEvent(new Event("htmx.after.swap"));
    assert.equal(shown(), "4 s");
    setRunState("stopping");
    assert.equal(shown(), "");
  });
});

suite("how long ago something was said", () => {
  for (const [seconds, text] of [
    [3, "now"],
    [61, "1 min. ago"],
    [3599, "59 min. ago"]
  ])
    test(`${seconds} s is "${text}"`, () => assert.equal(ago(seconds), text));
});

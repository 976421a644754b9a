"""A browser tab: a page that was drawn, and then follows by frames or by polling."""

from uuid import UUID

from ai_assistant.render.html.fragments import entry_html, pinned_html
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.web.panel.panel import Panel, PanelPage, Viewer
from tests.render.html.dom import Page


def panel() -> Panel:
    viewer = Viewer(name="ada", can_use=True)
    return Panel(viewer=viewer, page=PanelPage(path="/admin/"))


def whole_page(conversation) -> tuple[Page, str, int]:
    """Draw the conversation as a page load does; with the run and event it shows."""
    drawn, shown = read_thread(conversation), panel()
    log = "".join(entry_html(entry, shown) for entry in drawn.entries)
    pinned = "".join(pinned_html(item, shown) for item in drawn.pinned)
    return Page(log, pinned), str(drawn.run.pk) if drawn.run else "", drawn.seq


class Tab:
    """Does with its projection what the pump does, at the test's own pace."""

    def __init__(self, story) -> None:
        self.story = story
        self.page, self.run, self.seq = whole_page(story.conversation)
        self.projection: Projection | None = None
        self.heard = 0  # live frames that the layer has handed to this tab

    def connect(self) -> None:
        """Listen first, then attach."""
        self.heard = len(self.story.frames)
        self.projection = self._projection()
        run = UUID(self.run) if self.run else None
        self.page.apply(self.projection.attach(run, self.seq))

    def look(self) -> None:
        self.page.apply(self.projection.catch_up())

    def hear(self, frames: list[dict]) -> None:
        """Take live frames, in this order."""
        if not all(map(self.projection.knows, frames)):
            self.look()
        for frame in frames:
            self.projection.live(frame)
        self.page.apply(self.projection.text_ops())

    def poll(self) -> None:
        """What a browser without a socket does."""
        projection = self._projection()
        run = UUID(self.run) if self.run else None
        ops = projection.attach(run, self.seq)
        self.page.apply(ops)
        if ops:
            self.run, self.seq = str(projection.run_id), projection.seq

    def _projection(self) -> Projection:
        return Projection(self.story.conversation_id, self.story.user.pk, panel())

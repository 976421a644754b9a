"""A client that follows a story by rows and live frames, at the test's own pace."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from ag_ui.core import BaseEvent

from ai_assistant.engine.storage.eventlog import events_after
from ai_assistant.render.agui.segment import ClientIds, Segment
from tests.agui import Known, Order, shape_faults
from tests.agui.held import Held
from tests.render.html.story import CALLS

THREAD = "t"


class Client:
    """What one client holds; takes events and checks each."""

    def __init__(self) -> None:
        self.known, self.held = Known(), Held()
        self.order = Order(thread=THREAD, run="")
        self.count = 0

    def begin(self, run: str) -> None:
        """Expect a new stream."""
        self.order = Order(
            thread=THREAD, run=run, known=self.known, may_wait=CALLS, faults=[]
        )

    def take(self, event: dict[str, Any]) -> None:
        self.count += 1
        assert shape_faults(event) == [], event
        self.order.take(event)
        assert self.order.faults == [], self.order.faults
        self.held.apply(event)


class Follower:
    """One client of a conversation: each run, or what follows a wait, is a stream."""

    def __init__(self, story) -> None:
        self.story = story
        self.client = Client()
        self.heard = 0  # live frames that were handed to this client
        self.segment: Segment | None = None
        self.told: list[tuple[dict[str, Any], str]] = []  # events, and where one stood
        self.streams = 0
        self.begun_after = 0

    @property
    def run_id(self) -> UUID | None:
        return self.segment.run_id if self.segment else None

    def connect(self) -> None:
        """Open the stream that is due: of a new run, or of one that goes on."""
        run = self.story.run
        if run is None or (self.segment is not None and not self.segment.is_over):
            return
        after = 0
        if run.pk == self.run_id:
            after = self.segment.translator.seq
            if after == run.next_seq - 1:
                return  # nothing has happened since
        self.streams += 1
        names = ClientIds(thread=THREAD, run=f"run-{self.streams}")
        self.client.begin(names.run)
        self.segment, self.begun_after = Segment(run.pk, names, after=after), after
        self.told = []
        self._take(self.segment.start(), has_place=False)

    def look(self) -> None:
        """Read the rows."""
        if self.segment is not None and not self.segment.is_over:
            self._take(self.segment.translate(self.segment.read()))

    def hear(self, frames: list[dict[str, Any]]) -> None:
        """Take live frames, in this order."""
        if self.segment is None or self.segment.is_over:
            return
        own = [one for one in frames if one["run"] == str(self.run_id)]
        translator = self.segment.translator
        if not all(map(translator.knows, own)):
            self.look()
        for frame in own:
            if not self.segment.is_over:
                self._take(translator.live(frame))

    def _take(self, events: Iterable[BaseEvent], *, has_place: bool = True) -> None:
        for event in events:
            plain = json.loads(event.model_dump_json(by_alias=True))
            self.client.take(plain)
            place = self.segment.translator.position if has_place else ""
            self.told.append((plain, place))

    def taken_up(self, at: int) -> Held:
        """Return what a client holds that lost this stream behind event `at`."""
        place = self.told[at][1]
        again = Segment(self.run_id, self.segment.names, after=self.begun_after)
        client = Client()
        client.begin(again.names.run)
        client.order.mine = [*CALLS]  # it may have held more than this stream
        kept = self.told[: at + 1] if place else []
        if place:
            again.stand_at(place, events_after(self.run_id, self.begun_after))
        rest = [*again.start(), *again.translate(again.read())]
        for event, _place in kept:
            client.take(event)
        for event in rest:
            client.take(json.loads(event.model_dump_json(by_alias=True)))
        client.order.end()
        assert client.order.faults == []
        return client.held

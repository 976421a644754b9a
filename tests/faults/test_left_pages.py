"""People click on while their message is on its way."""

import random
import socket
import struct
import threading
import time
from collections import Counter
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest

from tests.faults.scripts import marker
from tests.faults.site import Site
from tests.servers.client import Person
from tests.servers.oracle import Oracle

pytestmark = pytest.mark.faults

MESSAGES = 60
LONGEST_S = 0.02
RESET = struct.pack("ii", 1, 0)  # of SO_LINGER: close without a goodbye


def send_and_leave(person: Person, text: str, key: str, *, after_s: float) -> None:
    """Post a message as a browser does, and cut the connection."""
    data = urlencode({**person.token(), **person.message(text, key=key)}).encode()
    cookies = "; ".join(f"{c.name}={c.value}" for c in person.http.cookies.jar)
    address = urlsplit(person.url)
    head = (
        "POST /assistant/send/ HTTP/1.1\r\n"
        f"Host: {address.netloc}\r\nCookie: {cookies}\r\nHX-Request: true\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + data)
        time.sleep(after_s)
        if after_s > LONGEST_S / 2:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


class TestLeftPage:
    def test_no_message_is_lost_or_waits(self, demo_server, oracle, figure):
        # With the lease of production: who had to wait for it would be seen.
        server = demo_server(forged=True, lease_s=10.0).start()
        tables, dice, keys = oracle(server), random.Random(7), []
        person = Person(url=server.url).sign_in()
        begin = time.monotonic()
        for _ in range(MESSAGES):
            person.new_conversation()
            keys.append(str(uuid4()))
            send_and_leave(
                person,
                marker("hello", keys[-1]),
                keys[-1],
                after_s=dice.uniform(0, LONGEST_S),
            )
        person.close()
        rows = wait_rows(tables, keys)

        figure(
            "60 left messages, seconds until all have ended", [time.monotonic() - begin]
        )
        assert Counter(row["idempotency_key"] for row in rows) == Counter(keys)
        assert {row["state"] for row in rows} == {"succeeded"}
        assert {row["epoch"] for row in rows} == {1}  # nobody had to take it over
        assert not tables.problems(row["id"] for row in rows)


class TestRepeatedMessage:
    def test_repeated_message_starts_one_run(self, site: Site):
        people = [site.person() for _ in range(10)]
        key, conversation = str(uuid4()), str(uuid4())
        codes: list[int] = []

        def send(person: Person) -> None:
            person.conversation = conversation
            response = person.send(marker("hello", key), key=key)
            codes.append(response.status_code)

        threads = [threading.Thread(target=send, args=(one,)) for one in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert codes == [204] * 10
        assert len(wait_rows(site.oracle, [key])) == 1


def wait_rows(tables: Oracle, keys: list[str]) -> list[dict[str, object]]:
    """Wait until every message of `keys` has a run and all these have ended."""
    wanted = set(keys)

    def ended() -> bool:
        rows = own()
        known = {row["idempotency_key"] for row in rows}
        return known == wanted and all(row["finished_at"] for row in rows)

    def own() -> list[dict[str, object]]:
        return [row for row in tables.runs() if row["idempotency_key"] in wanted]

    tables.wait(ended, 90, "all runs of the messages")
    return own()

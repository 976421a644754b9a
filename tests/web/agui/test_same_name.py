"""CopilotKit answers interrupts under the id of the run that has asked."""

from copy import deepcopy

from tests.agui.client import approve
from tests.web.agui.site import call, text

ASKS = [call("needs_approval", text="a wish")]
DONE = [text("That is settled.")]


def refusal(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_answer_goes_on_under_it(site):
    front = site.front(version=None)
    (wait,) = front.ask(site.script(ASKS, DONE)).interrupts

    reading = front.answer(approve(wait), runId=front.run)

    assert reading.text() == "That is settled."
    assert reading.of("TOOL_CALL_START") == []
    assert [one["content"] for one in reading.of("TOOL_CALL_RESULT")] == [
        "Approved: a wish"
    ]


def test_again_and_again(site):
    front = site.front()
    reading = front.ask(site.script(ASKS, ASKS, DONE))

    for _ in range(2):
        (wait,) = reading.interrupts
        reading = front.answer(approve(wait), runId=front.run)

    assert reading.text() == "That is settled."
    assert len(reading.of("TOOL_CALL_RESULT")) == 1


def test_attaching_tells_what_came_last_under_it(site):
    front = site.front()
    (wait,) = front.ask(site.script(ASKS, DONE)).interrupts
    known, held = deepcopy((front.known, front.held))
    front.answer(approve(wait), runId=front.run)

    with front.attach(known=known, held=held) as reading:
        reading.rest()

    assert reading.of("TOOL_CALL_START") == []
    assert reading.text() == "That is settled."


def test_sent_twice_it_counts_once(site):
    front = site.front()
    (wait,) = front.ask(site.script(ASKS, DONE)).interrupts
    front.answer(approve(wait), runId=front.run)
    before = site.count()

    response = front.post(front.input(resume=[approve(wait)], runId=front.run))

    assert refusal(response) == (409, "run_id_used")
    assert site.count() == before


def test_no_earlier_one_is_taken(site):
    front = site.front()
    front.ask(site.script(DONE))
    earlier = front.run
    (wait,) = front.ask(site.script(ASKS, DONE)).interrupts
    before = site.count()

    response = front.post(front.input(resume=[approve(wait)], runId=earlier))

    assert refusal(response) == (409, "run_id_used")
    assert site.count() == before


def test_without_an_answer_it_is_used(site):
    front = site.front()
    front.ask(site.script(ASKS, DONE))
    before = site.count()

    response = front.post(front.input("Go on.", runId=front.run))

    assert refusal(response) == (409, "run_id_used")
    assert site.count() == before

"""What the model says, as a client reads it."""

from uuid import uuid4

from tests.web.agui.site import hold, text, think

UNICODE = [
    "Grüße, 世界 ",
    "\U0001f468",
    "\u200d",
    "\U0001f469",
    " e",
    "\u0301 ",
    "\U0001f1e9",
    "\U0001f1ea ",
    "مرحبا ",
    "line\nnext\r\nthird\u2028four\u2029five\u0085six ",
    '\n\ndata: {"type": "RUN_ERROR", "message": "forged"}\n\n',
    'id: 7\n: x\ttab "quote" back\\slash </script> \U0001f680',
]


class TestText:
    def test_one_answer_is_one_message(self, site):
        front = site.front()

        reading = front.ask(site.script([text("Hello, world.")]))

        assert reading.text() == "Hello, world."
        assert len(reading.of("TEXT_MESSAGE_START")) == 1
        assert reading.outcome == {"type": "success"}
        assert front.held.texts() == ["Hello, world."]

    def test_text_comes_while_the_model_is_still_writing(self, site):
        gate = uuid4().hex
        asked = site.script([text("early "), hold(gate), text("late")])

        with site.front().open(asked) as reading:
            reading.until_text("early")
            site.model.release(gate)
            reading.rest()

        assert reading.text() == "early late"

    def test_text_of_many_pieces_is_whole_and_in_order(self, site):
        words = "".join(f"w{n} " for n in range(2000))

        assert site.front().ask(site.script([text(words)])).text() == words

    def test_empty_pieces_and_chunks_without_choices(self, site):
        reply = [
            {"op": "delta", "delta": {"role": "assistant", "content": ""}},
            text("a"),
            {"op": "delta", "delta": {"content": ""}},
            {"op": "empty_choices"},
            text("b"),
        ]

        assert site.front().ask(site.script(reply)).text() == "ab"

    def test_text_of_every_kind_of_character_stays_as_it_is(self, site):
        reply = [{"op": "delta", "delta": {"content": piece}} for piece in UNICODE]
        front = site.front()

        reading = front.ask(site.script(reply) + " Größe \U0001f600?")

        assert reading.text() == "".join(UNICODE)
        assert front.history()["messages"][0]["content"].endswith("Größe \U0001f600?")

    def test_text_that_is_empty_ends_well_or_says_why(self, site):
        reading = site.front().ask(site.script([{"op": "finish", "reason": "stop"}]))

        assert reading.last["type"] == "RUN_ERROR" or reading.outcome
        assert reading.text() == ""


class TestReasoning:
    def test_reasoning_stands_in_a_span_before_the_answer(self, site):
        front = site.front()

        reading = front.ask(site.script([think("Let me think."), text("The answer.")]))

        assert front.held.texts("reasoning") == ["Let me think."]
        assert front.held.texts() == ["The answer."]
        types = reading.types
        assert types.index("REASONING_END") < types.index("TEXT_MESSAGE_START")

    def test_reasoning_comes_live(self, site):
        gate = uuid4().hex
        asked = site.script([think("Thinking "), hold(gate), text("Done.")])
        front = site.front()

        with front.open(asked) as reading:
            reading.until("REASONING_MESSAGE_CONTENT")
            site.model.release(gate)
            reading.rest()

        assert front.held.texts("reasoning") == ["Thinking "]
        assert front.held.texts() == ["Done."]

    def test_reasoning_between_pieces_of_text_has_a_span_for_each(self, site):
        front = site.front()

        front.ask(site.script([think("one"), text("a"), think("two"), text("b")]))

        assert "".join(front.held.texts()) == "ab"
        assert "".join(front.held.texts("reasoning")) == "onetwo"

    def test_reasoning_comes_back_with_the_next_input_and_is_not_taken_for_an_answer(
        self, site
    ):
        front = site.front()
        front.ask(site.script([think("a secret thought"), text("First.")]))
        asked = site.script([text("Second.")])

        front.ask(asked)

        assert front.held.texts() == ["First.", "Second."]
        assert "a secret thought" not in site.asked_last(asked)


class TestUsage:
    def test_usage_is_that_of_the_model_with_its_sum(self, site):
        counted = {"prompt": 120, "completion": 30, "cached": 100, "reasoning": 20}
        reading = site.front().ask(
            site.script([text("Counted."), {"op": "usage", **counted}])
        )

        (told,) = reading.last["usage"]
        assert (told["inputTokens"], told["outputTokens"]) == (120, 30)
        assert told["totalTokens"] == 150
        assert (told["cachedInputTokens"], told["reasoningTokens"]) == (100, 20)

    def test_sums_the_calls_of_this_run_only(self, site):
        front = site.front()
        for _ in range(2):
            reading = front.ask(
                site.script([text("x"), {"op": "usage", "prompt": 7, "completion": 2}])
            )

            (told,) = reading.last["usage"]
            assert told["totalTokens"] == 9


class TestThread:
    def test_three_questions_reach_the_model_once_each(self, site):
        front = site.front()
        asked = [site.script([text(f"Answer {n}.")]) for n in range(3)]
        for one in asked:
            front.ask(one)

        (last,) = site.asked(asked[2])
        said = [m["content"] for m in last["messages"] if m["role"] == "user"]
        answers = [m["content"] for m in last["messages"] if m["role"] == "assistant"]
        assert [sum(one in str(text) for text in said) for one in asked] == [1, 1, 1]
        assert answers == ["Answer 0.", "Answer 1."]
        roles = [one["role"] for one in front.held.messages]
        assert roles == ["user", "assistant"] * 3

    def test_several_messages_at_once_are_one_question(self, site):
        front = site.front()
        front.add_message("First this.")
        asked = site.script([text("Both.")])

        front.ask(asked)

        assert "First this." in site.asked_last(asked)
        assert len(site.runs(front)) == 1

    def test_context_reaches_the_model(self, site):
        asked = site.script([text("Seen.")])
        context = [{"description": "the open page", "value": "a blue elephant"}]

        site.front().ask(asked, context=context)

        assert "a blue elephant" in site.asked_last(asked)

    def test_parts_that_are_no_text_are_passed_over(self, site):
        front, asked = site.front(), site.script([text("Read.")])
        pixel = {"type": "data", "value": "aGVsbG8=", "mimeType": "image/png"}
        parts = [
            {"type": "text", "text": asked},
            {"type": "image", "source": pixel},
            {"type": "document", "source": {"type": "file", "value": "f-1"}},
            {"type": "document", "source": {"type": "ftp", "value": "f-1"}},
            {"type": "hologram", "depth": 3},
        ]
        said = front.input("x")
        said["messages"][-1]["content"] = parts

        front.held.messages.pop()
        assert front.ask(messages=said["messages"]).text() == "Read."

    def test_thread_names_of_a_newer_protocol_are_passed_over(self, site):
        front = site.front(version="1.9")
        front.add_message(site.script([text("Served.")]))
        front.held.messages[-1]["mood"] = {"a": 1}
        tools = [{"name": "t1", "description": "d", "hint": True}]
        front.tools = tools
        strange = {"id": "s", "role": "oracle", "content": "x"}
        messages = [strange, *front.held.messages]

        reading = front.ask(messages=messages, futureTopLevel=[1, 2])

        assert reading.text() == "Served."
        assert reading.events[0]["protocolVersion"] == "1.0"

    def test_smallest_input_is_enough(self, site):
        front = site.front(version=None)
        said = front.input(site.script([text("Enough.")]))
        small = {key: said[key] for key in ("threadId", "runId", "messages")}

        response = front.post(small)

        assert response.status_code == 200
        assert '"delta":"Enough."' in response.text.replace(" ", "")


class TestHeaders:
    def test_stream_is_not_held_back_on_its_way(self, site):
        front = site.front()
        with front.open(site.script([text("x")])) as reading:
            headers = reading.response.headers
            reading.rest()

        assert "no-cache" in headers["cache-control"]
        assert headers["x-accel-buffering"] == "no"
        assert "content-length" not in headers
        assert headers.get("content-encoding", "identity") == "identity"

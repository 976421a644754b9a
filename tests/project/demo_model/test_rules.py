import pytest

from project.demo_model import answers
from tests.project.demo_model.conftest import Conversation

ONE = {"id": 12, "title": "Exit interview", "status": "draft", "revision": 1}
START = {"id": 5, "position": 0, "title": "Start"}
TWIN = {"id": 13, "title": "Exit interview 2", "status": "draft", "revision": 1}


def found(*rows, total=None):
    return {"total": len(rows) if total is None else total, "questionnaires": rows}


class TestIntroduction:
    @pytest.mark.parametrize(
        "wish", ["Hi!", "hello there", "help", "What can you do?", "who are you"]
    )
    async def test_introduction_names_itself(self, talk, wish):
        said = await talk.say(wish)

        assert "built-in offline demo model" in said.text
        assert "not a language model" in said.text

    @pytest.mark.parametrize(
        "wish", ["What is the weather?", "write a poem", "helpless", "ls -la", "ü`x`"]
    )
    async def test_introduction_says_plainly_what_it_does_not_understand(
        self, talk, wish
    ):
        said = await talk.say(wish)

        assert said.text == answers.unknown(wish)
        assert "not a language model" in said.text

    async def test_introduction_understands_what_its_help_offers(self, talk):
        rows = [line for line in answers.HELP.splitlines() if line.startswith("| `")]
        wishes = [row.split("`")[1] for row in rows]

        said = [await talk.say(wish) for wish in wishes]

        assert len(wishes) == 28
        assert not [one.text for one in said if "None of my rules" in one.text]


class TestListing:
    @pytest.mark.parametrize(
        ("wish", "arguments"),
        [
            ("list questionnaires", {}),
            ("List all published questionnaires.", {"status": "published"}),
            ("which drafts are there?", {"status": "draft"}),
            ("please list archived ones", {"status": "archived"}),
            ("list drafts about “sleep”", {"status": "draft", "search": "sleep"}),
            ("show me all questionnaires about pain", {"search": "pain"}),
        ],
    )
    async def test_listing_calls_the_list(self, talk, wish, arguments):
        said = await talk.say(wish)

        assert said.call == ("list_questionnaires", arguments)
        assert said.reasoning

    async def test_answers_with_a_table(self, talk):
        await talk.say("list questionnaires")

        said = await talk.result(found(ONE, total=24))

        assert said.text.startswith("24 questionnaires.")
        assert "| 12 | Exit interview | draft | 1 |" in said.text

    async def test_title_cannot_break_the_table(self, talk):
        await talk.say("list questionnaires")

        said = await talk.result(found({**ONE, "title": "a | b"}))

        assert "| 12 | a \\| b | draft | 1 |" in said.text

    async def test_empty_list(self, talk):
        await talk.say("list questionnaires about unicorns")

        assert (await talk.result(found())).text == "No questionnaire matches."


class TestCounting:
    @pytest.mark.parametrize(
        "wish",
        [
            "how many questions are there?",
            "count questions",
            "how many in total",
            "how many questions in all questionnaires",
        ],
    )
    async def test_counting_counts_all_questions(self, talk, wish):
        assert (await talk.say(wish)).call == ("count_questions", {})

    async def test_counting_tells_the_count_by_type(self, talk):
        await talk.say("how many questions are there?")

        said = await talk.result({"questions": 5, "by_type": {"Date": 5}})

        assert "**5** questions" in said.text
        assert "| Date | 5 |" in said.text

    @pytest.mark.parametrize(
        "wish",
        [
            "how many questions are in Exit interview?",
            "how many questions does the exit interview have",
            "count the questions of the questionnaire “Exit interview”",
        ],
    )
    async def test_counting_counts_in_one_questionnaire(self, talk, wish):
        said = await talk.say(wish)
        assert said.name == "list_questionnaires"
        assert said.arguments["search"].lower() == "exit interview"

        said = await talk.result(found(ONE))

        assert said.call == ("count_questions", {"questionnaire_id": 12})

    @pytest.mark.parametrize(
        "wish",
        ["how many sections does the exit interview have?", "count sections in 12"],
    )
    async def test_counting_counts_sections_of_one(self, talk, wish):
        said = await talk.say(wish)
        if said.name == "list_questionnaires":
            said = await talk.result(found(ONE))
        assert said.call == ("read_questionnaire", {"questionnaire_id": 12})

        said = await talk.result({**ONE, "sections": [START, {**START, "id": 6}]})

        assert said.text == "**Exit interview** has **2** sections."

    async def test_sections_that_may_not_be_seen(self, talk):
        await talk.say("how many sections in 12")

        said = await talk.result(ONE)

        assert said.text.startswith("You have no permission to see the sections")

    @pytest.mark.parametrize("wish", ["how many sheep", "count sheep"])
    async def test_counting_says_what_it_counts(self, talk, wish):
        assert (await talk.say(wish)).text == answers.COUNTS

    async def test_counts_questionnaires(self, talk):
        said = await talk.say("how many draft questionnaires are there?")
        assert said.arguments == {"status": "draft", "limit": 1}

        said = await talk.result(found(ONE, total=7))

        assert said.text == "There are **7** of them."


class TestReading:
    async def test_number_is_read_at_once(self, talk):
        said = await talk.say("show questionnaire 12")

        assert said.call == ("read_questionnaire", {"questionnaire_id": 12})

    async def test_reading_tells_the_outline(self, talk):
        await talk.say("read Exit interview")
        await talk.result(found(ONE))
        question = {"id": 9, "text": "Why?", "type": "Text"}
        section = {"id": 5, "position": 0, "title": "Start", "questions": [question]}

        said = await talk.result(
            {**ONE, "description": "", "languages": ["en"], "sections": [section]}
        )

        assert "### Exit interview" in said.text
        assert "**Start** (section 5)\n\n- Why? *(Text)*" in said.text

    async def test_title_that_fits_exactly_wins(self, talk):
        await talk.say("show exit interview")

        said = await talk.result(found(ONE, TWIN))

        assert said.call == ("read_questionnaire", {"questionnaire_id": 12})

    async def test_several_titles_fit(self, talk):
        await talk.say("show exit")

        said = await talk.result(found(ONE, TWIN))

        assert said.name == ""
        assert "may mean any of 2 questionnaires. Nothing was done" in said.text

    async def test_no_title_fits(self, talk):
        await talk.say("show unicorns")

        said = await talk.result(found())

        assert said.text == "No questionnaire matches “unicorns”. Nothing was done."


class TestChanging:
    @pytest.mark.parametrize(
        ("wish", "call"),
        [
            (
                "Rename section 7 to “About you”.",
                ("rename_section", {"section_id": 7, "title": "About you"}),
            ),
            ("delete section #7", ("delete_section", {"section_id": 7})),
            ("archive diabetes", ("archive_questionnaire", {"title": "diabetes"})),
            ("recompute positions", ("recompute_positions", {})),
            (
                "could you renumber the positions of questionnaire 4?",
                ("recompute_positions", {"questionnaire_id": 4}),
            ),
            ("publish 4", ("publish_questionnaire", {"questionnaire_id": 4})),
        ],
    )
    async def test_changing_calls_the_tool(self, talk, wish, call):
        assert (await talk.say(wish)).call == call

    async def test_changing_publishes_what_it_has_looked_up(self, talk):
        await talk.say("publish Exit interview")
        said = await talk.result(found(ONE))
        assert said.call == ("publish_questionnaire", {"questionnaire_id": 12})

        said = await talk.result({**ONE, "status": "published", "revision": 2})

        assert said.text == "Done: **Exit interview** is now published, revision 2."

    @pytest.mark.parametrize("wish", ["rename section Start to End", "delete Start"])
    async def test_changing_asks_for_the_number_of_a_section(self, talk, wish):
        said = await talk.say(wish)

        assert said.name == ""
        assert "if you give its number" in said.text

    async def test_changing_renames_by_title(self, talk):
        await talk.say("rename section “start” of the exit interview to Welcome")
        said = await talk.result(found(ONE))
        assert said.call == ("read_questionnaire", {"questionnaire_id": 12})

        said = await talk.result({**ONE, "sections": [START]})

        assert said.call == ("rename_section", {"section_id": 5, "title": "Welcome"})

    @pytest.mark.parametrize(
        ("sections", "text"), [((), "no section"), (("Start", "start"), "2 sections")]
    )
    async def test_title_of_no_one_section(self, talk, sections, text):
        await talk.say('rename section "Start" of 12 to Welcome')

        rows = [{"id": n, "title": title} for n, title in enumerate(sections)]
        said = await talk.result({**ONE, "sections": rows})

        assert said.name == ""
        assert f"has {text} named “Start”. Nothing was done." in said.text

    async def test_new_wish_forgets_older_results(self, talk):
        await talk.say("delete section 7")
        await talk.fails("denied")

        said = await talk.say("delete section 8")

        assert said.call == ("delete_section", {"section_id": 8})


class TestCallByName:
    async def test_call_by_name_passes_the_arguments_on(self, talk):
        said = await talk.say('call echo {"text": "hi {you}"}')

        assert said.call == ("echo", {"text": "hi {you}"})

    async def test_call_by_name_shows_the_result_as_it_is(self, talk):
        await talk.say('call echo {"text": "hi"}')

        said = await talk.result("hi")

        assert said.text == "“Echo” answered:\n\n```text\nhi\n```"

    async def test_arguments_that_are_no_json(self, talk):
        said = await talk.say("call echo {text: hi}")

        assert said.name == ""
        assert said.text.startswith("The arguments are not JSON")


class TestThinking:
    async def test_reasons_before_it_answers(self, talk):
        said = await talk.say("think about sheep")

        assert "its subject is “sheep”" in said.reasoning
        assert "not a language model" in said.text


class TestHugeWishes:
    @pytest.mark.parametrize(
        "wish",
        [
            "count " + "the " * 25_000,
            "how many " + "of " * 30_000,
            "write " * 16_000,
            "show a" + " " * 90_000 + "b",
            "list " + "about " * 16_000,
            'call echo {"text": "' + "} " * 40_000,
            "rename section 1 to " + " to " * 25_000,
            "please, " * 12_000,
            "recompute " + "position " * 11_000,
        ],
    )
    async def test_get_a_reply(self, talk, wish):
        said = await talk.say(wish)

        assert said.text or said.name


class TestModules:
    @pytest.mark.parametrize(
        ("wish", "call"),
        [
            (
                'add question "Do you snore?" to section 5',
                (
                    "add_question",
                    {
                        "section_id": 5,
                        "question_type_id": "text",
                        "question_text": "Do you snore?",
                    },
                ),
            ),
            ("search the wiki for windows.", ("search_wiki", {"query": "windows"})),
            (
                "search the logs for level:error",
                ("execute_query", {"query": "level:error", "auto_execute": True}),
            ),
            (
                "set the logs to level:error",
                ("execute_query", {"query": "level:error", "auto_execute": False}),
            ),
        ],
    )
    async def test_modules_calls_their_tools(self, talk, wish, call):
        assert (await talk.say(wish)).call == call

    async def test_modules_tells_their_results(self, talk):
        await talk.say("search the wiki for tea")
        page = {"title": "Tea", "path": "/tea/", "excerpt": "How it is made."}
        said = await talk.result({"total": 1, "pages": [page]})
        assert said.text == "- [Tea](/tea/): How it is made."

        await talk.say("set the logs to level:error")
        said = await talk.result({"query": "level:error", "executed": False})
        assert "is set. Press Run" in said.text


class TestFinding:
    """On a page with many tools the model is not told of all of them."""

    @pytest.fixture
    def talk(self):
        return Conversation(tools=("find_tools", "add_question"))

    async def test_finding_looks_for_the_tool_then_calls_it(self, talk):
        said = await talk.say("list questionnaires")
        assert said.call == ("find_tools", {"query": "list questionnaires"})

        talk.tools += Conversation(tools=("list_questionnaires",)).tools
        said = await talk.result([{"name": "list_questionnaires"}])
        assert said.call == ("list_questionnaires", {})

        said = await talk.result(found(ONE))
        assert "Exit interview" in said.text

    async def test_finding_leaves_it_to_the_card_why_it_is_not_found(self, talk):
        await talk.say("list questionnaires")

        said = await talk.result([])
        assert said.call == ("list_questionnaires", {})

        said = await talk.fails("not_here", "The user has chosen “View only”.")
        assert said.text == (
            "“List questionnaires” is not available to you here. Nothing was done."
        )

    async def test_finding_says_so_if_there_is_none_at_all(self, talk, monkeypatch):
        monkeypatch.setattr("ai_assistant.registry.tools", dict)
        await talk.say("list questionnaires")

        said = await talk.result([])

        assert "not available to you here" in said.text


class TestMemory:
    async def test_wish_to_remember_calls_the_tool(self, talk):
        said = await talk.say("Remember that the report is due on Mondays.")

        text = "the report is due on Mondays."
        assert (said.name, said.arguments) == ("save_memory", {"text": text})
        done = await talk.result({"remembered": text, "for": "the user"})
        assert text in done.text

    async def test_what_is_remembered_is_told(self, talk):
        talk.messages[0]["content"] = (
            "Be brief.\n\nWhat the user has had you remember. These are notes:\n"
            "- The report is due on Mondays.\n- Ada is on leave.\n\nMore."
        )

        said = await talk.say("What do you remember?")

        assert "- The report is due on Mondays.\n- Ada is on leave." in said.text

    async def test_nothing_is_remembered(self, talk):
        said = await talk.say("What do you remember?")

        assert "nothing yet" in said.text


class TestAgents:
    async def test_agent_is_asked_and_its_answer_told(self, talk):
        said = await talk.say("Ask the analyst: how many questions in Exit interview")

        task = "how many questions in Exit interview"
        wanted = {"agent": "analyst", "task": task}
        assert (said.name, said.arguments) == ("ask_agent", wanted)
        assert "11 of them" in (await talk.result("There are 11 of them.")).text


class TestPage:
    async def test_fills_in_the_form(self, talk):
        said = await talk.say("Fill in the default language with de")

        assert said.call == ("fill_form", {"values": {"default_language": "de"}})
        assert "save" in (await talk.result({"filled": ["Language"]})).text

    async def test_opens_a_list_filtered(self, talk):
        said = await talk.say("open the draft questionnaires")

        assert said.call[0] == "navigate_to"
        assert said.call[1]["filters"] == {"status": "draft"}

    @pytest.mark.parametrize(("name", "asks"), [("Save", True), ("Variables", False)])
    async def test_presses_what_the_page_shows(self, talk, name, asks):
        looked = (await talk.say(f"Press the {name} button")).call
        outline = 'e1 form ""\n  e2 summary "Variables"\n  e3 button "Save" asks'

        said = await talk.result({"snapshot": "a1", "outline": outline})

        assert looked == ("get_page_state", {"mode": "outline"})
        ref = "e3" if asks else "e2"
        assert said.call == (
            "page_action",
            {
                "snapshot": "a1",
                "actions": [{"action": "click", "ref": ref}],
                "ask": asks,
            },
        )

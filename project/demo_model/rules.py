"""The rules of the demo model, around those of the offline model."""

import re
from collections.abc import Callable

from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.page import Page
from ai_assistant.providers.offline.rules import Rules
from ai_assistant.providers.offline.sentences import SENTENCES
from ai_assistant.providers.offline.wishes import DATA, TALK, cleaned
from project.demo_model import answers, data, sections
from project.demo_model.naming import NAME_CHARS, on_questionnaire
from project.demo_model.offered import OFFERED

Plan = Callable[[re.Match[str], list[Outcome]], Reply]

STATUSES = ("draft", "published", "archived")
COUNTS_THEM = re.compile(
    r"\W*(?:(?:all|of|the|our|my|draft|published|archived)\s+)*"
    r"(?:questionnaires|drafts)\b",
    re.IGNORECASE,
)
WITHIN = re.compile(
    r"\b(?:in|of|does|do)\s+(?!all\b|total\b|every)(?P<reference>\S.*?)"
    r"(?:\s+(?:have|has|contain))?\W*$",
    re.IGNORECASE,
)
# What may stand behind “how many” where questions are meant.
COUNTABLE = ("", "question", "questions", "in", "are", "do", "does")
OWN = Rules(TALK)
FIRST = Rules()


def rule(pattern: str) -> Callable[[Plan], Plan]:
    """Add a rule of the demo, to which the page is all one."""

    def add(plan: Plan) -> Plan:
        OWN.rule(pattern)(lambda match, done, page: plan(match, done))
        return plan

    return add


@rule(r"rename\s+section\s+#?(?P<id>\d+)\s+(?:to|as|into)\s+(?P<title>.+)$")
def rename(match: re.Match[str], done: list[Outcome]) -> Reply:
    arguments = {"section_id": int(match["id"]), "title": cleaned(match["title"])}
    return _once(
        Call(name="rename_section", arguments=arguments),
        done,
        reasoning=f"The wish names section {match['id']} and its new title.",
    )


@rule(
    r"rename\s+(?:the\s+)?section\s+[\"“„'](?P<section>[^\"“”„']{1,300})[\"“”']\s+"
    r"(?:of|in)\s+(?P<reference>.{1,300}?)\s+(?:to|as|into)\s+(?P<title>.+)$"
)
def rename_by_title(match: re.Match[str], done: list[Outcome]) -> Reply:
    title = cleaned(match["title"])
    return sections.rename(match["section"], match["reference"], title, done)


@rule(r"delete\s+section\s+#?(?P<id>\d+)\b")
def delete(match: re.Match[str], done: list[Outcome]) -> Reply:
    return _once(
        Call(name="delete_section", arguments={"section_id": int(match["id"])}),
        done,
        text="Deleting takes the questions of the section along.",
    )


rule(data.COUNT)(data.count)
rule(data.CHANGE_MANY)(data.change_many)
rule(data.CHANGE)(data.change)
rule(data.CREATE)(data.create)
rule(data.DELETE)(data.delete)


@rule(r"(?:rename|delete)\b")
def which_section(match: re.Match[str], done: list[Outcome]) -> Reply:
    return Reply(
        text="I can do that to a section if you give its number: "
        "`rename section 12 to Welcome` or `delete section 12`, or rename it by its "
        'title: `rename section "Start" of Exit interview to Welcome`. '
        "`show` and the title of a questionnaire lists the numbers."
    )


@rule(r"(?:recompute|renumber|reset)\b.*?\bpositions?\b\D*(?P<id>\d+)?")
def recompute(match: re.Match[str], done: list[Outcome]) -> Reply:
    arguments = {"questionnaire_id": int(match["id"])} if match["id"] else {}
    return _once(
        Call(name="recompute_positions", arguments=arguments),
        done,
        text="This takes some seconds. You may leave the page meanwhile.",
    )


@rule(
    r"add\s+(?:the\s+|a\s+)?question\s+[\"“„'](?P<text>[^\"“”„']{1,500})[\"“”']\s+"
    r"(?:to|in)\s+section\s+#?(?P<id>\d+)\b"
)
def add_question(match: re.Match[str], done: list[Outcome]) -> Reply:
    arguments = {
        "section_id": int(match["id"]),
        "question_type_id": "text",
        "question_text": match["text"],
    }
    return _once(
        Call(name="add_question", arguments=arguments),
        done,
        reasoning="The wish names the text and the section; a short text is safe.",
    )


@rule(r"remember\b[:,]?\s+(?:that\s+)?(?P<text>.{3,300})$")
def remember(match: re.Match[str], done: list[Outcome]) -> Reply:
    call = Call(name="save_memory", arguments={"text": match["text"].strip()})
    return _once(call, done)


@rule(
    r"ask\s+(?:the\s+)?(?P<agent>analyst|proofreader)\b"
    r"(?:\s+(?:to|about|for))?[,:]?\s+(?P<task>.{1,1000})$"
)
def ask_agent(match: re.Match[str], done: list[Outcome]) -> Reply:
    if done and done[-1].ok:
        return Reply(text=f"The {match['agent'].lower()} answers: {done[-1].data}")
    arguments = {"agent": match["agent"].lower(), "task": match["task"].strip()}
    return _once(Call(name="ask_agent", arguments=arguments), done)


@rule(r"search\s+(?:the\s+)?wiki\s+(?:for|about)\s+(?P<query>.{1,300})$")
def search_wiki(match: re.Match[str], done: list[Outcome]) -> Reply:
    call = Call(name="search_wiki", arguments={"query": cleaned(match["query"])})
    return _once(call, done)


@rule(r"(?:how\s+(?:do|does|can)\s+.{0,40})?refunds?\b.{0,100}$")
def read_refund_skill(match: re.Match[str], done: list[Outcome]) -> Reply:
    return _once(Call(name="get_skill", arguments={"name": "refund"}), done)


@rule(
    r"(?P<set>set|find|search|query)\s+(?:the\s+)?logs?\s+(?:for|to)\s+(?P<query>.{1,300})$"
)
def query_logs(match: re.Match[str], done: list[Outcome]) -> Reply:
    arguments = {
        "query": match["query"].strip(),
        "auto_execute": match["set"].lower() != "set",
    }
    return _once(Call(name="execute_query", arguments=arguments), done)


@rule(
    r"fill\s+in\s+(?:the\s+)?(?P<field>\w[\w ]{0,40}?)\s*(?:[:=]|\bwith\b|\bas\b)\s*"
    r"(?P<value>.{1,300})$"
)
def fill_in(match: re.Match[str], done: list[Outcome]) -> Reply:
    if done:
        return Reply(text="It stands in the form. Look at it, and save the page.")
    field = match["field"].lower().replace(" ", "_")
    arguments = {"values": {field: cleaned(match["value"])}}
    return Reply(call=Call(name="fill_form", arguments=arguments))


@rule(
    r"(?:open|go to)\s+(?:the\s+)?(?P<status>draft|published|archived)\s+questionnaires\b"
)
def open_list(match: re.Match[str], done: list[Outcome]) -> Reply:
    if done:
        return Reply(text="Here they are.")
    name = "admin:questionnaires_questionnaire_changelist"
    arguments = {"view_name": name, "filters": {"status": match["status"].lower()}}
    return Reply(call=Call(name="navigate_to", arguments=arguments))


@rule(r"(?:click|press)\s+(?:on\s+)?(?:the\s+)?(?P<name>.{1,60}?)(?:\s+button)?$")
def press(match: re.Match[str], done: list[Outcome]) -> Reply:
    steps = {one.call.name: one for one in done}
    if "page_action" in steps:
        return Reply(text="That is how the page is now.")
    if "get_page_state" not in steps:
        return Reply(call=Call(name="get_page_state", arguments={"mode": "outline"}))
    name, state = cleaned(match["name"]), steps["get_page_state"].data or {}
    line = rf'^ *(e\d+) [a-z]+ "{re.escape(name)}"(.*)$'
    found = re.search(line, state.get("outline", ""), re.IGNORECASE | re.MULTILINE)
    if found is None:
        return Reply(text=f"The page shows nothing called “{name}”.")
    arguments = {
        "snapshot": state["snapshot"],
        "actions": [{"action": "click", "ref": found[1]}],
        "ask": found[2].endswith("asks"),
    }
    return Reply(call=Call(name="page_action", arguments=arguments))


@rule(r"publish\s+(?P<reference>.+)$")
def publish(match: re.Match[str], done: list[Outcome]) -> Reply:
    return on_questionnaire(match["reference"], done, tool="publish_questionnaire")


@rule(r"archive\s+(?P<reference>.+)$")
def archive(match: re.Match[str], done: list[Outcome]) -> Reply:
    title = cleaned(match["reference"])
    return _once(
        Call(name="archive_questionnaire", arguments={"title": title}),
        done,
        reasoning="The tool itself asks which one is meant if several match.",
    )


@rule(r"think\b(?:\s+(?:about|of|on|over))?\s*(?P<subject>.*)$")
def think(match: re.Match[str], done: list[Outcome]) -> Reply:
    subject = cleaned(match["subject"]) or "nothing in particular"
    reasoning = (
        f"The wish begins with “think”, and its subject is “{subject}”.\n\n"
        "A language model would now weigh what it knows. There is no language model "
        "here, only rules that look at the first words of a message.\n\n"
        f"I have {len(RULES.all)} rules. This one shows what reasoning looks like: it "
        "comes before the answer, folds away when the answer begins, and is stored "
        "with it.\n\n"
        "So the honest answer is short."
    )
    return Reply(
        reasoning=reasoning,
        text=f"About {subject} I know nothing: {answers.WHAT_I_AM} "
        "What you saw before this line was my reasoning, and it was true.",
    )


@rule(r"(?=.{0,200}\b(?:markdown|long (?:text|answer))\b)")
def long_text(match: re.Match[str], done: list[Outcome]) -> Reply:
    return Reply(text=answers.MARKDOWN)


@rule(r"(?:how many|count)\b(?P<words>.*)$")
def count(match: re.Match[str], done: list[Outcome]) -> Reply:
    words = match["words"][:NAME_CHARS]
    if COUNTS_THEM.match(words):
        arguments = {**_filters(words), "limit": 1}
        call = Call(name="list_questionnaires", arguments=arguments)
        if done and isinstance(done[-1].data, dict):
            return Reply(text=answers.total(done[-1].data))
        return _once(call, done, reasoning="The list tells how many there are.")
    noun, within = sections.noun(words), WITHIN.search(words)
    if noun.startswith("section") and within:
        return sections.count(within["reference"], done)
    if noun not in COUNTABLE:
        return Reply(text=answers.COUNTS)
    if within:
        return on_questionnaire(within["reference"], done, tool="count_questions")
    return _once(Call(name="count_questions"), done)


@rule(
    r"(?:list|which|show(?: me)? (?:all|the list|draft|published|archived))\b(?P<words>.*)$"
)
def listing(match: re.Match[str], done: list[Outcome]) -> Reply:
    arguments = _filters(match[0][:NAME_CHARS])
    narrowed = ", ".join(f"{key} “{value}”" for key, value in arguments.items())
    return _once(
        Call(name="list_questionnaires", arguments=arguments),
        done,
        reasoning="The wish asks for a list of questionnaires"
        + (f", narrowed to {narrowed}." if narrowed else ", of all of them."),
    )


@rule(r"(?:show|read|open|describe)(?: me)?\s+(?P<reference>.+)$")
def read(match: re.Match[str], done: list[Outcome]) -> Reply:
    return on_questionnaire(match["reference"], done, tool="read_questionnaire")


def _once(
    call: Call, done: list[Outcome], *, reasoning: str = "", text: str = ""
) -> Reply:
    """Make one call, then tell its result."""
    if done:
        return Reply(text=answers.result(done[-1]))
    return Reply(reasoning=reasoning, text=text, call=call)


def _filters(words: str) -> dict[str, str]:
    """Return the status and the search words that a listing is narrowed to."""
    filters = {}
    for status in STATUSES:
        if re.search(rf"\b{status}s?\b", words, re.IGNORECASE):
            filters["status"] = status
    about = re.search(
        r"\b(?:about|with|named|called|for|on)\s+(?P<search>.+)$", words, re.IGNORECASE
    )
    if about:
        filters["search"] = cleaned(about["search"])
    return filters


@FIRST.sentence(
    r"how many (?:.{1,100}\s)?(?:questionnaires|drafts|questions|schedules|question types"
    r"|wiki pages|log lines|groups|users) are there"
)
def count_known(match: re.Match[str], done: list[Outcome], page: Page) -> Reply | None:
    """Count what the demo has words of its own for before others are looked up."""
    return OWN.reply(match[0], done, page)


RULES = Rules(FIRST, SENTENCES, OFFERED, OWN, DATA)

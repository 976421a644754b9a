"""The list of the panel's templates in docs/panel.md."""

import re
from pathlib import Path

from django.template.loader import get_template

import ai_assistant
from tests.docs.blocks import blocks, page, section

FOLDER = Path(ai_assistant.__file__).parent / "templates" / "ai_assistant"
DOCUMENTED = section(page("docs/panel.md"), "Templates")
ROWS = re.findall(r"^\| (?!part |-)[^|]+\| (.+) \|$", DOCUMENTED, re.M)


def test_every_one_is_listed_once():
    listed = re.findall(r"`(\w+)`", " ".join(ROWS))

    assert sorted(listed) == sorted(file.stem for file in FOLDER.glob("*.html"))


def test_block_of_the_example_is_there():
    (example,) = [one for one in blocks(DOCUMENTED) if one.language == "html"]
    extended = re.search(r'extends "(.+?)"', example.code)[1]
    source = get_template(extended).template.source

    for name in re.findall(r"{% block (\w+) %}", example.code):
        assert f"{{% block {name} %}}" in source

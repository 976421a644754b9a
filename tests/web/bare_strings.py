"""
Finds texts for people that no translation reaches.

In templates (every text and every attribute that is read out or shown), in scripts
(literals that look like words) and in Python (what refusals, messages and names
are made of).
"""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

LETTER = re.compile(r"[^\W\d_]")

# --- templates ---

SHOWN = {
    *("title", "alt", "placeholder", "label", "content"),
    *("aria-label", "aria-description", "aria-roledescription", "aria-valuetext"),
}
WITH_WORDS = {"default", "default_if_none", "yesno", "pluralize", "add"}
LITERAL_FILTER = re.compile(r"\|\s*(\w+)\s*:\s*(\"[^\"]*\"|'[^']*')")
# Names and values, as `default:"auto"`, are no words for people.
WORDS = re.compile(r"[A-Z]|[a-z]\s+[a-z]")
HOLE = " \x00 "  # where a tag or a variable stood
# An element whose name a condition gives, and templates that are attributes only.
CHOSEN = re.compile(r"<(/?)\s*\x00\s*(\w+)\s*\x00\s*\w+\s*\x00")
ATTRIBUTE = re.compile(r"[\w:-]+=\"[^\"]*\"")
KEYS = re.compile(r"(?:(?:Alt|Ctrl|Cmd|Shift)\+)+(?:[A-Z]|F\d+)\b")
# What is inside is for machines: class names, samples of code.
UNREAD_BLOCKS = ("block bodyclass", "comment")


class _Page(HTMLParser):
    """Gathers what of the HTML itself a person reads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._code = ""  # the script or style that this stands in

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code = tag if tag in ("script", "style", "code") else ""
        for name, value in attrs:
            is_shown = name in SHOWN and not (tag == "meta" and name == "content")
            if is_shown or (
                tag == "input" and name == "value" and " " in (value or "")
            ):
                self._see(value or "", f"{name} of <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._code = ""

    def handle_data(self, data: str) -> None:
        if not self._code:
            self._see(data, "text")

    def _see(self, text: str, where: str) -> None:
        bare = KEYS.sub("", ATTRIBUTE.sub("", text.replace(HOLE, " "))).strip()
        if LETTER.search(bare):
            self.found.append(f"{where}: {bare!r}")


def bare_in_template(source: str) -> list[str]:
    """Return what a template says in words of its own."""
    found: list[str] = []
    html: list[str] = []
    ends: list[str] = []  # of the tags that this stands in, whose text is not read
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK:
            _follow(ends, token.contents)
            found += _bare_in_tag(token.contents)
            html.append(HOLE)
        elif token.token_type == TokenType.VAR:
            found += _bare_in_filters(token.contents)
            html.append(HOLE)
        elif token.token_type == TokenType.TEXT and not ends:
            html.append(token.contents)
    page = _Page()
    page.feed(CHOSEN.sub(r"<\1\2", "".join(html)))
    page.close()
    return found + page.found


def _follow(ends: list[str], contents: str) -> None:
    name = contents.split(maxsplit=1)[0]
    if name in ("blocktranslate", "blocktrans") or contents.startswith(UNREAD_BLOCKS):
        ends.append(f"end{name}")
    elif ends and name == ends[-1]:
        ends.pop()


def _bare_in_tag(contents: str) -> list[str]:
    name, *rest = contents.split(maxsplit=1)
    if name == "firstof" and rest:
        literals = re.findall(r'(?<!\()"([^"]*)"', rest[0])
        return [f"firstof: {one!r}" for one in literals if WORDS.search(one)]
    return _bare_in_filters(contents)


def _bare_in_filters(contents: str) -> list[str]:
    return [
        f"filter {name}: {literal}"
        for name, literal in LITERAL_FILTER.findall(contents)
        if name in WITH_WORDS and WORDS.search(literal)
    ]


# --- scripts ---

# A regular expression stands where a value may stand.
JS_TOKENS = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<pattern>(?:(?<=[(,=:!&|?{};\[\n])|(?<==>)|(?<=return))\s*
      /(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    """,
    re.VERBOSE | re.DOTALL,
)
# Two words, or one that begins with a capital: what a person could read.
SPOKEN = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]{2,}")
# Of the keyboard: `event.key` and `event.code`.
KEY_NAMES = re.compile(
    r"(?:Enter|Escape|Tab|Home|End|Page(?:Up|Down)|Key[A-Z])|Arrow\w+"
)
TAGS = frozenset(
    (
        *("a", "article", "aside", "body", "button", "details", "div", "fieldset"),
        *("form", "h1", "h2", "h3", "html", "img", "input", "label", "li", "main"),
        *("nav", "ol", "option", "output", "p", "pre", "section", "select", "span"),
        *(
            "summary",
            "table",
            "tbody",
            "td",
            "textarea",
            "th",
            "thead",
            "time",
            "tr",
            "ul",
        ),
    )
)


def literals_of_script(source: str) -> Iterator[str]:
    """Yield the strings of a script, without their quotes."""
    for match in JS_TOKENS.finditer(source):
        if match.lastgroup == "text":
            yield match["text"][1:-1]


def bare_in_script(source: str) -> list[str]:
    """Return the strings of a script that could be words for a person."""
    return [
        text
        for text in literals_of_script(source)
        if SPOKEN.search(re.sub(r"\$\{[^}]*\}", "x", text))
        and not KEY_NAMES.fullmatch(text)
        and not _is_selector(text)
    ]


def _is_selector(text: str) -> bool:
    """Tell whether each word is an element's name or begins as a selector does."""
    return all(
        word[0] in "#.:[*>+~" or re.split(r"[#.:\[]", word)[0] in TAGS
        for word in re.split(r"[\s,()]+", text.strip())
        if word
    )


# --- Python ---

# Callable -> which argument a person reads: its place, or its name.
SAID_IN: dict[str, tuple[int, ...]] = {
    "Refused": (1,),
    "Limited": (0,),
    "Revoked": (1,),
    "ValidationError": (0,),
    "PermissionDenied": (0,),
    "message_user": (1,),
    **dict.fromkeys(("debug", "info", "success", "warning", "error"), (1,)),
}
OF_MESSAGES = {"debug", "info", "success", "warning", "error"}
NAMED = {
    *("verbose_name", "verbose_name_plural", "help_text", "short_description"),
    *("empty_value_display", "site_header", "site_title", "index_title"),
}
DESCRIBED = {"display", "action"}  # admin.display(description=...)


def bare_in_python(source: str) -> list[str]:
    """Return what Python code says to a person in words of its own."""
    tree = ast.parse(source)
    return [
        f"line {node.lineno}: {ast.unparse(node)[:80]}"
        for scope in _scopes(tree)
        for node in _said(scope)
        if _is_bare(node, _literal_names(scope))
    ]


def _scopes(tree: ast.Module) -> list[ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [tree, *(node for node in ast.walk(tree) if isinstance(node, kinds))]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what belongs to a scope and to no function inside it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _own(node)


def _said(scope: ast.AST) -> Iterator[ast.expr]:
    for node in _own(scope):
        if isinstance(node, ast.Call):
            yield from _said_in_call(node)
        elif isinstance(node, ast.Assign):
            names = {getattr(t, "id", getattr(t, "attr", "")) for t in node.targets}
            if names & NAMED:
                yield node.value
        elif isinstance(node, ast.ClassDef) and _is_choices(node):
            yield from _labels(node)


def _said_in_call(call: ast.Call) -> Iterator[ast.expr]:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    owner = getattr(getattr(call.func, "value", None), "id", "")
    is_said = name not in OF_MESSAGES or owner == "messages"
    for place in SAID_IN.get(name, ()) if is_said else ():
        if len(call.args) > place:
            yield call.args[place]
    for keyword in call.keywords:
        is_named = keyword.arg in NAMED or (is_said and keyword.arg == "message")
        if is_named or (keyword.arg == "description" and name in DESCRIBED):
            yield keyword.value


def _is_choices(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("Choices") for base in node.bases)


def _labels(node: ast.ClassDef) -> Iterator[ast.expr]:
    for line in node.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Tuple):
            yield line.value.elts[-1]


def _literal_names(scope: ast.AST) -> set[str]:
    return {
        target.id
        for node in _own(scope)
        if isinstance(node, ast.Assign) and _is_bare(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_bare(node: ast.expr, literals: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(LETTER.search(node.value))
    if isinstance(node, ast.JoinedStr):
        return any(_is_bare(part, literals) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _is_bare(node.left, literals) or _is_bare(node.right, set())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "format" and _is_bare(node.func.value, literals)
    return isinstance(node, ast.Name) and node.id in literals

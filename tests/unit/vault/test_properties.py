"""A note's properties: YAML 1.2's meaning, and bounds that no note can break.

guards.md 6, 63; contract.md, get_frontmatter; complaints 13, 14, 17 and 19.
"""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidFrontmatter, PathRefused
from service.guards import limits, paths
from service.vault import frontmatter, properties
from service.vault.parts import links, property_edits
from service.vault.parts.property_edits import Wanted
from service.vault.properties import Value
from tests.support.desk import NOTE, Desk
from tests.support.vaults import BOM


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("False", False),
        ("22:30", "22:30"),
        ("1.10", 1.1),
        ("-7", -7),
        ("007", 7),
        ("0o17", 15),
        ("0xff", 255),
        ("1e3", 1000.0),
        (".5", 0.5),
        (".", "."),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("12345678901234567890", "12345678901234567890"),
        ("2026-03-16", "2026-03-16"),
        ("2026-99-99", "2026-99-99"),
        ("~", None),
        ("null", None),
        ("", None),
        ('"1"', "1"),
        ("'~'", "~"),
        ("!!str 5", "5"),
        ('!!int "5"', 5),
        ("!!bool x", "x"),
        ('!!null ""', None),
        ("!!python/object/apply:os.system [true]", [True]),
        ("!wild 5", "5"),
        ("[[Note]]", [["Note"]]),
        ('"[[Note]]"', "[[Note]]"),
        ("[a, {b: 1}, ]", ["a", {"b": 1}]),
        ("|\n  two\n  lines", "two\nlines"),
        ("a # remark", "a"),
        ("a#b", "a#b"),
        ("\ta\t# remark", "a"),
        ("\t[a,\tb]\t", ["a", "b"]),
        ("a\tb", "a\tb"),
        ("a \t b\t", "a \t b"),
        ("\n\t# remark\n  a", "a"),
        ("a\tb\t\n  c", "a\tb c"),
    ],
)
def test_a_value_means_what_yaml_1_2_says(yaml: str, value: Value) -> None:
    """YAML 1.2.2, 10.3.2. Complaints 13 and 14: no date becomes a time stamp, no time a number."""
    found = properties.parse(f"key: {yaml}")["key"]
    assert (found, type(found)) == (value, type(value))


def test_names_are_text_in_their_order_and_an_alias_is_what_it_names() -> None:
    """Numbers and truths as names are text, as JSON has it."""
    found = properties.parse("b: &x [1, 2]\n1: *x\ntrue: *x\n<<: {c: 3}\n")
    assert list(found.items()) == [("b", [1, 2]), ("1", [1, 2]), ("true", [1, 2]), ("<<", {"c": 3})]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("mark", ["[", "{", "[[x]] ["])
def test_what_nests_without_end_costs_no_more_than_its_beginning(mark: str) -> None:
    """guards.md 6, 63: the library alone takes minutes for it; the same for whoever changes properties or looks for links."""
    text = f"---\na: {mark * (59_000 // len(mark))}\n---\n"
    with pytest.raises(InvalidFrontmatter):
        properties.parse(frontmatter.inner(text))
    with pytest.raises(InvalidFrontmatter):
        property_edits.plan(text, Wanted({"b": 1}), "\n")
    assert links.of(text) == ()


def test_no_properties_are_none() -> None:
    """Empty front matter, and one that holds only a remark."""
    assert properties.parse("") == properties.parse("# nothing\n") == properties.parse("---\n") == {}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip(string.ascii_lowercase[:12], string.ascii_lowercase[1:13], strict=True)
)
HOSTILE: dict[str, tuple[str, int]] = {
    "billions by aliases": (BOMB, 4),
    "a long text by aliases": ("a: &a " + "x" * 30_000 + "\nb: [*a, *a, *a]", 2),
    "an alias of itself": ("a: &a [*a]", 1),
    "an alias of nothing": ("a: 1\nb: *x", 2),
    "an alias as a name": ("a: &a x\n*a : b", 2),
    "a list as a name": ("? [a]\n: b", 1),
    "a name twice": ("a: 1\nb: 2\na: 3", 3),
    "a chain of merges": ("a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}}}\n" for n in range(1, 2000)), 32),
    "deep lists": ("a: " + "[" * 1000, 1),
    "deep mappings": ("a: " + "{a: " * 1000, 1),
    "deep blocks": ("".join(" " * n + "a:\n" for n in range(200)), 32),
    "deep dashes": ("a:\n" + "- " * 25_000, 2),
    "endless question": ("? " * 25_000, 1),
    "a tab": ("a:\n\tb: 1", 2),
    "half a quote": ('a: 1\nb: "x', 2),
    "an escape beyond Unicode": ('a: "\\U00ffffff"', 1),
    "a control character": ("a: \x07", 1),
    "half a surrogate pair": ("a: \ud800", 1),
    "a second document": ("a: 1\n...\n---\nb: 1", 3),
    "a list": ("- a\n- b", 1),
    "a text": ("just words", 1),
    "too much": ("a: x\n" * 20_000, 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_front_matter_is_refused_with_its_line(name: str) -> None:
    """guards.md 6, 63: bounded in time and memory, no recursion, no alias expanded without end."""
    yaml, line = HOSTILE[name]
    with pytest.raises(InvalidFrontmatter) as refused:
        properties.parse(yaml)
    assert abs(refused.value.line - line) <= 1
    assert len(str(refused.value)) < 250


def test_a_refusal_quotes_nothing() -> None:
    """House rule: no note text in an error; the library's own message would quote it."""
    with pytest.raises(InvalidFrontmatter) as refused:
        properties.parse("public: 1\nsecretword: [secretvalue")
    assert "secret" not in str(refused.value)


def test_a_number_of_five_thousand_digits_stays_text() -> None:
    """guards.md 6, 63: Python refuses to convert it."""
    assert properties.parse("a: " + "9" * 5000) == {"a": "9" * 5000}


_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=20)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15) + 1, 10**15 - 1) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(_TEXTS, _VALUES, max_size=5))
def test_what_json_says_is_what_is_read(values: dict[str, Value]) -> None:
    """YAML 1.2 is a superset of JSON."""
    assert properties.parse(json.dumps(values, ensure_ascii=False) if values else "{}") == values


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(yaml: str) -> None:
    """Nothing else ever comes out."""
    try:
        properties.parse(yaml)
    except InvalidFrontmatter:
        return


def test_properties_of_a_note_are_those_between_its_fences(desk: Desk) -> None:
    """Complaint 19: a byte order mark hides nothing; the version is that of the whole note."""
    desk.put({"n.md": BOM + b"---\r\ntitle: A\r\ntags: [x, y]\r\n---\r\ntext: no\r\n"})
    found = properties.read(desk.vault, NOTE)
    assert dict(found.values) == {"title": "A", "tags": ["x", "y"]}
    assert found.version == desk.vault.files.read(NOTE).version
    desk.put({"n.md": b"---\ntext\n"})
    assert dict(properties.read(desk.vault, NOTE).values) == {}


def test_no_value_holds_what_nobody_sees(desk: Desk) -> None:
    """guards.md 4.1: written as it is, or as an escape."""
    desk.put({"n.md": '---\na: x\u200by\n"k\\u200b": ["p\\U000E0041q", {"r": "s\\u202et"}]\n---\n'})
    assert dict(properties.read(desk.vault, NOTE).values) == {"a": "xy", "k": ["pq", {"r": "st"}]}


def test_an_error_names_the_line_of_the_note(desk: Desk) -> None:
    """Line 1 is the fence."""
    desk.put({"n.md": "---\na: 1\nb: [\n---\n"})
    with pytest.raises(InvalidFrontmatter, match=r"line [34]"):
        properties.read(desk.vault, NOTE)


def test_only_markdown_has_properties() -> None:
    """contract.md, path: Markdown features read .md and .markdown."""
    with pytest.raises(PathRefused):
        paths.markdown("a.txt")


def test_the_bounds_are_what_an_answer_holds() -> None:
    """limits.py: front matter that fits is never refused for its size."""
    assert limits.MAX_FRONTMATTER_CHARS <= limits.MAX_RESULT_CHARS

"""The judges of the input guard by themselves: addresses, HTML, code blocks; and where a text differs from another."""

from __future__ import annotations

import random

import pytest

from service.guards import active_html, destinations, fences
from service.guards.destinations import Place
from service.vault import changes


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("", Place.LOCAL),
        ("Note.md", Place.LOCAL),
        ("a/b c.png", Place.LOCAL),
        ("#heading", Place.LOCAL),
        ("#a:b", Place.LOCAL),
        ("./a:b", Place.LOCAL),
        ("My meeting: notes.md", Place.LOCAL),
        ("/Attachments/a.png", Place.LOCAL),
        ("100%.png", Place.LOCAL),
        ("?q=https://x.example", Place.LOCAL),
        ("https://x.example", Place.WORLD),
        ("  hTTp://x.example", Place.WORLD),
        ("https:x", Place.WORLD),
        ("//x.example", Place.WORLD),
        ("ht\ttps://x.example", Place.WORLD),
        ("&#104;ttps://x.example", Place.WORLD),
        ("https%3a//x.example", Place.WORLD),
        ("mailto:a@b.example", Place.WORLD),
        ("tel:1", Place.WORLD),
        ("zotero://select/1", Place.WORLD),
        ("message://%3cx%3e", Place.WORLD),
        ("things:///show?id=1", Place.WORLD),
        ("obsidian://open?vault=v&file=a%2Fb", Place.WORLD),
        ("obsidian://search/?query=append", Place.WORLD),
        ("obsidian://OPEN?Vault=v", Place.WORLD),
        ("obsidian://open?vault=v&append=1", Place.FORBIDDEN),
        ("obsidian://open?vault=v&%61ppend=1", Place.FORBIDDEN),
        ("obsidian://open?vault=v&x-success=https://x.example", Place.FORBIDDEN),
        ("obsidian://new?name=x", Place.FORBIDDEN),
        ("obsidian:open?x", Place.FORBIDDEN),
        ("obsidian://open.evil?x", Place.FORBIDDEN),
        ("javascript:x", Place.FORBIDDEN),
        ("java\u200bscript:x", Place.FORBIDDEN),
        ("\x01javascript:x", Place.FORBIDDEN),
        ("JAVASCRIPT&colon;x", Place.FORBIDDEN),
        ("javascript%3Ax", Place.FORBIDDEN),
        ("vbscript:x", Place.FORBIDDEN),
        ("file:///etc/passwd", Place.FORBIDDEN),
        ("\\\\host\\share", Place.FORBIDDEN),
        ("/\\host", Place.FORBIDDEN),
        ("\\/host", Place.FORBIDDEN),
        ("c:\\x.png", Place.FORBIDDEN),
        ("data:image/png;base64,iVBORw0KGgo=", Place.PICTURE),
        ("data:image/svg+xml;base64,AA", Place.FORBIDDEN),
        ("data:image/png,x", Place.FORBIDDEN),
        ('data:image/png;base64,AA"onload=x', Place.FORBIDDEN),
        ("data:text/html;base64,AA", Place.FORBIDDEN),
    ],
)
def test_an_address_leads_where_a_browser_would_go(address: str, place: Place) -> None:
    """guards.md 4.4: allow-list of schemes; the worst reading counts."""
    assert destinations.place(address) is place


@pytest.mark.parametrize(
    ("tag", "is_active"),
    [
        ("<p>", False),
        ("<img src=a.png width=3 alt='on the road'>", False),
        ("<img src=https://x.example>", True),
        ("<img src='a.png' srcset='a.png 1x, b.png 2x'>", False),
        ("<img src='a.png' srcset='a.png 1x,//x.example/b 2x'>", True),
        ("<img src=data:image/png;base64,AAAA>", False),
        ("<a href=https://x.example target=_blank>", False),
        ("<a href='java\nscript:x'>", True),
        ("<a href=note.md onclick=x>", True),
        ("<p/onclick=x>", True),
        ('<p a="\'"onclick=x>', True),
        ("<p title='a onclick=x'>", False),
        ("<p ONCLICK>", True),
        ("<p style='color:red'>", False),
        ("<p style='background:URL (x)'>", True),
        ("<p style='background:image-set(\"x\" 1x)'>", True),
        ("<p style='&#98;ackground:u&#114;l(x)'>", True),
        ("<video src=a.mp4 poster=a.png>", False),
        ("<source src=//x.example>", True),
        ("<td background=https://x.example>", True),
        ("<iframe>", True),
        ("<SVG>", True),
        ("<svg:use>", True),
        ("<use xlink:href=#a>", True),
        ("<p xlink:href=https://x.example>", True),
        ("<button formaction=x>", True),
        ("<input type=checkbox checked>", False),
        ("<details open>", False),
        ("<p src=//x.example", True),
    ],
)
def test_html_is_judged_as_html5_reads_it(tag: str, is_active: bool) -> None:
    """guards.md 4.4, HTML that loads, runs or navigates."""
    read = active_html.tag_at(f"x {tag}", 2, len(tag) + 2)
    assert read is not None
    assert active_html.is_active(read.name, read.attributes) is is_active


@pytest.mark.parametrize("text", ["<", "< p>", "<1>", "</p>", "<!-- -->", "<?x>"])
def test_what_begins_no_element_is_no_tag(text: str) -> None:
    """HTML5, 13.2.5.6 Tag open state."""
    assert active_html.tag_at(text, 0, len(text)) is None


@pytest.mark.parametrize(
    ("info", "body", "runs"),
    [
        ("", "x", False),
        ("js", "fetch('x')", False),
        ("python", "x", False),
        ("json {1}", "{}", False),
        ("dataview", "TABLE file.name", False),
        ("DataviewJS", "", True),
        ("ｄataviewjs", "", True),
        ("dataviewjs-x", "", False),
        ("js-engine", "", True),
        ("run-lua", "", True),
        ("runner", "", False),
        ("{python}", "", True),
        ("{ r }", "", True),
        ("{.python}", "", False),
        ("button", "name x", True),
        ("meta-bind", "INPUT[toggle:x]", False),
        ("meta-bind-button", "", True),
        ("meta-bind-js-view", "", True),
        ("datacoretsx", "", True),
        ("cardlink", "", True),
        ("embed", "", True),
        ("html", "", True),
        ("leaflet", "", True),
        ("plantuml-svg", "", True),
        ("tasks", "not done\ndescription includes functional", False),
        ("tasks", "group by function task.due", True),
        ("mermaid", "graph LR\nA-->B", False),
        ("mermaid", "sequenceDiagram\nA->>B: a < b", False),
        ("mermaid", "classDiagram\nclass A {\n<<interface>>\n}", False),
        ("mermaid", 'A["x<br/>y"]', False),
        ("mermaid", "A@{ shape: x, img : 'y' }", True),
        ("mermaid", 'A["<b onclick=x>"]', True),
        ("mermaid", "style A fill:url(x)", True),
        ("mermaid", 'click A href "https://x.example"', True),
        ("base", "views:\n  - type: table", False),
        ("base", 'formulas:\n  x: image("https://x.example/" + file.name)', True),
        ("dataview", 'LIST "!" + "[](https://x.example)"', True),
    ],
)
def test_code_blocks_are_judged_by_their_first_word_and_some_by_their_body(info: str, body: str, runs: bool) -> None:
    """guards.md 4.4, blocks that run."""
    assert fences.runs(info, body) is runs


@pytest.mark.parametrize(
    ("code", "is_script"),
    [
        ("$= dv.x", True),
        (" $=x", True),
        ("dv$=x", True),
        ("$ = x", False),
        ("a[href$='.x']", False),
        ("cost $=5", False),
    ],
)
def test_inline_scripts_are_known_by_what_they_begin_with(code: str, is_script: bool) -> None:
    """Dataview's prefix."""
    assert (fences.inline_script(code) is not None) is is_script


# ---- where a text differs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "spans"),
    [
        ("a\n", "a\n", []),
        ("", "new\n", [(0, 4)]),
        ("a\nb\nc\n", "a\nX\nc\n", [(2, 3)]),
        ("one two\n", "one 2 two\n", [(3, 6)]),
        ("a\nb\n", "a\n", [(2, 2)]),
        ("x\n![a](b.png)\n", "x\n![r](https://e/b.png)\n![a](b.png)\n", [(1, 24)]),
        ("1\nsame\n2\nsame\n3\n", "one\nsame\n2\nsame\nthree\n", [(0, 3), (16, 21)]),
    ],
)
def test_a_change_is_found_where_it_was_made(before: str, after: str, spans: list[tuple[int, int]]) -> None:
    """Lines first, then letters; an insertion covers wherever it may have been made."""
    assert changes.between(before, after) == spans


def test_what_lies_outside_the_changes_is_what_there_was() -> None:
    """Property: the pieces between the spans stand in the old text, in order, and are all of it that was kept."""
    chance = random.Random(3)
    for _ in range(2000):
        lines = [chance.choice("abcde") * chance.randint(0, 3) + "\n" for _ in range(chance.randint(0, 12))]
        before = "".join(lines)
        for _ in range(chance.randint(0, 3)):
            at = chance.randint(0, len(lines))
            lines[at : at + chance.randint(0, 2)] = [chance.choice("xyab") + chance.choice("\nq")] * chance.randint(
                0, 2
            )
        after = "".join(lines)
        spans = changes.between(before, after)
        at = done = 0
        for start, end in spans:
            assert done <= start <= end <= len(after)
            at = before.find(after[done:start], at)
            assert at >= 0, (before, after, spans)
            at += start - done
            done = end
        assert before.endswith(after[done:]), (before, after, spans)


def test_words_stand_around_a_change_only_where_they_stand_whole() -> None:
    """So that what the model wrote whole is made harmless, and what it completes of the owner's is refused."""
    after = "see ![a](https://x.example) end"
    assert changes.words_of(after, ["![a](https://x.example)"], [(6, 7)]) == [(4, 27)]
    assert changes.words_of(after, ["!", "elsewhere", ""], [(4, 5)]) == [(4, 5)]
    assert changes.words_of(after, ["end"], [(4, 5)]) == []

"""The line that the end of a link leads to, and the other names of a note."""

from __future__ import annotations

import pytest

from service.vault.parts import aliases, places

NOTE = """---
a: 1
---
# One
## Same
# Two: the "end" (of it)
## Same
text
goes on ^para

| a | b |
|---|---|
| c | d |

^table

- item
- other ^item
  - deep

^list

> quote
> # Quoted
> more

^quote

Set **ext**
over two
---

```
# Code
```

%%
# Comment
%%

## C# ##
### Deep
#### Here ^named
"""


@pytest.mark.parametrize(
    ("subpath", "line"),
    [
        ("#One", 4),
        ("#one", 4),
        ("#Same", 5),
        ("#Two the end of it", 6),
        ('#Two: the "end" (of it)', 6),
        ("#Two the end of it#same", 7),
        ("#^para", 8),
        ("#^PARA", 8),
        ("#^table", 11),
        ("#^item", 18),
        ("#^list", 17),
        ("#^quote", 23),
        ("#Set ext over two", 29),
        ("#C", 41),
        ("#C#Here", 43),
        ("#Deep#Here", 43),
        ("#^named", 43),
        ("#Here", 43),
        ("#Here#Deep", None),
        ("#Code", None),
        ("#Comment", None),
        ("#Quoted", None),
        ("#^none", None),
        ("#Three", None),
        ("#", None),
        ("", None),
    ],
)
def test_a_subpath_leads_to_a_heading_or_block(subpath: str, line: int | None) -> None:
    """Obsidian help, Internal links; obsidian.d.ts, resolveSubpath and stripHeading; `## C#` is the heading "C#"."""
    assert places.line_of(NOTE, subpath) == line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\naliases: [a, 'b c', 3]\n---\n", ("a", "b c", "3")),
        ("---\nAlias: x, y\n---\n", ("x", "y")),
        ("---\naliases:\n  - é\n  -\n---\n", ("é",)),
        ("---\naliases: {a: 1}\n---\n", ()),
        ("---\naliases: [a\n---\n", ()),
        ("aliases: a\n", ()),
        ("---\nother: a\n---\naliases: b\n", ()),
    ],
)
def test_a_note_has_the_aliases_in_its_properties(text: str, expected: tuple[str, ...]) -> None:
    """Obsidian help, Aliases."""
    assert aliases.of(text) == expected
    assert not expected or aliases.may_hold(text.encode())

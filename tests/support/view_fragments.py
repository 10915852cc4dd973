"""Pieces of which nasty documents are glued: each is harmless or hostile alone, and worse beside others.

`@` stands for a word of its own, so that the oracle can tell which text is shown.
"""

from __future__ import annotations

from random import Random

FRAGMENTS = (
    '@', '@ @', '**@**', '_@_', '# @\n', '## @', '@\n===\n', '---\n', '***\n', '> @', '- @', '1. @', '- [ ] @',
    '> [!note] @\n', '<!-- @ -->', '<!--@', '-->', '--!>', '<!-->', '<!--->', '<!-- @ --!> @ -->', '<!', '<!-',
    '<!\u200b-- @ -->', '<?@ ?>', '<?', '?>', '<!X @>', '<!DOCTYPE @>', '<![CDATA[@]]>', '<![CDATA[', ']]>', '</ @>',
    '</', '</>', '<', '>', '<div>', '</div>', '<div hidden>', '<div hidden>@</div>', '<div style="display:none">',
    '<DIV STYLE=display:NONE>@</DIV>', '<div>@\n\n@</div>', '<p hidden>@', '</p>', '<p>', '<span hidden>',
    '<span hidden>@</span>', '</span>', '<span>', '<span style="opacity:0">@</span>', '<b hidden>', '</b>', '<b>',
    '<b style="font-size:1px">@</b>', '<i style="color:#fff;background:white">@</i>',
    '<span style="display&#58;none">@</span>', '<span style="dis\\70lay:none">@</span>',
    '<span style="/**/display:/**/none">@</span>', '<div style="position:absolute;left:-9999px">@</div>',
    '<div style="height:0;overflow:hidden">@</div>', '<em style="transform:scale(0)">@</em>', '<div title="@',
    '<div title="', '">', "'>", '<a href="@">', '</a>', '<a\n', '<b @=1', '<b/hidden>@</b>', '</b @>',
    '<b title=">">', '<img hidden @>', '<script>', '</script>', '<script>@</script>', '<style>@</style>', '<style>',
    '<template>@</template>', '<noscript>@</noscript>', '<title>@</title>', '<textarea>', '</textarea>',
    '<textarea>@', '<xmp>', '</xmp>', '<iframe src=x>@</iframe>', '<iframe>', '</iframe>', '<video>@</video>',
    '<video>', '<object>@</object>', '<dialog>@</dialog>', '<dialog open>@</dialog>',
    '<details><summary>@</summary>@</details>', '<input type=hidden value=@>', '<table><tr><td>@</td></tr></table>',
    '<table>', '<tr>', '<td hidden>@</td>', '</table>', '<ul><li hidden>@<li>@</ul>', '<select><option>@</select>',
    '<svg><text>@</text></svg>', '<svg>', '</svg>', '<svg>@<g>@</g></svg>', '<pre>@', '</pre>', '<h1 hidden>@</h1>',
    '<section hidden>\n\n@\n\n</section>', '<ruby>@<rt>@</rt></ruby>', '<custom-x hidden>@</custom-x>',
    '<center>@</center>', '<font color=red>@</font>', '`', '``', '`@`', '`` @ ` @ ``', '`<!-- @ -->`', '\\`', '\\',
    '\\<', '\\<!-- @ -->', '```\n', '```@\n@\n```\n', '````\n', '~~~\n', '~~~ @\n@\n~~~\n', '``` a`b\n', '    @\n',
    '\t@\n', '[@](@)', '[@](<@>)', '![@](@)', "![@ <b>@</b>](@ '@')", '[@]', '[a]', '[a]: @\n', "[a]: @ '@'\n",
    '[b]: # (@)\n', '[b]: <> "@"\n', '[b]: #\n', "[@]: # '@\n@'\n", "[a]: /u\n'@'\n", '[a]:\n', '[[@|@]]', '![[@]]',
    '| @ | @ |\n|---|---|\n| @ | @ |\n', '| `@ | <!-- @ -->` |\n|---|---|\n', '|', '<https://e.com/@>', '<a@b.cd>',
    '&lt;!-- @ --&gt;', '&#8203;', '&zwnj;', '&#60;!-- @ --&#62;', '&amp;', '&#x200b', '&', '\u200b', '\u200c',
    '\u200d', '\ufe0f', '\xad', '\u2060', '\u202e', '\u2067', '\u2069', '\u200f', '\u05d0', '\u0645',
    '\u0645\u06cc\u200c\u062e', '\U0001f469\u200d\U0001f52c', '\u2764\ufe0f', '1\ufe0f\u20e3', '\U000e0041', '\u2800',
    '\u2800\u2800', '\x00', '\x1b[8m', '\r', '\r\n', '\ufeff', '\u845b\U000e0100', '\u3164', '%% @ %%', '$@<@$',
    '$$\n@\n$$\n', '^@', '#@', '<% @ %>', '---\ntitle: @\n---\n', '[^1]: @\n', 'x[^1]',
)  # fmt: skip
_GLUE = ("", "", "", " ", " ", "\n", "\n", "\n\n", "\n\n", "\n> ", "\n- ", "\n  ", "\n    ", "\n> - ", "\r\n", "\t")


def glue(random: Random, most: int = 14) -> str:
    """A document of two to `most` fragments."""
    parts: list[str] = []
    for _ in range(random.randint(2, most)):
        parts += random.choice(FRAGMENTS), random.choice(_GLUE)
    pieces = "".join(parts).split("@")
    words = (f"w{number}z" for number in range(len(pieces)))
    return "".join(piece + word for piece, word in zip(pieces, words, strict=True))[: -len(f"w{len(pieces) - 1}z")]

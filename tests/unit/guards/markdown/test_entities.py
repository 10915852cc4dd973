"""Decoding of entities and escapes."""

from __future__ import annotations

import pytest

from service.guards.markdown import entities


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a", "a"),
        ("&amp;&copy;&colon;", "&©:"),
        ("&nope; &amp &;", "&nope; &amp &;"),
        ("&#58;&#x3A;&#X3a;", ":::"),
        ("&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"),
        ("&#12345678;", "&#12345678;"),
        ("\\&amp; \\a \\\\", "&amp; \\a \\"),
    ],
)
def test_markdown_decodes_what_has_a_semicolon(written: str, meant: str) -> None:
    """CommonMark 2.4 and 2.5."""
    assert entities.markdown(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("java&#115cript&#0000000000000000058", "javascript:"),
        ("&ampx &lt &colon;", "&x < :"),
        ("&#x;&#;&nope;", "&#x;&#;&nope;"),
        ("&#" + "9" * 6000 + ";", "\ufffd"),
        ("&#" + "0" * 6000 + "58", ":"),
        ("&#0;", "\ufffd"),
    ],
)
def test_an_attribute_is_decoded_as_a_browser_does(written: str, meant: str) -> None:
    """WHATWG HTML 13.2.5.72 to 13.2.5.80; Python refuses to read numbers of more than 4,300 digits."""
    assert entities.attribute(written) == meant

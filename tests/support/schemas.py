"""Arguments for a tool, made from its input schema: what the schema allows, and now and then what it does not.

hypothesis-jsonschema would do the first half; its last release does not run with today's Hypothesis, and our schemas use few
words of JSON Schema. A word that is not known here is an error, so that a new one is not passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

_KNOWN: Final = frozenset(
    {
        "additionalProperties", "anyOf", "default", "description", "enum", "items", "maxItems", "maxLength", "maximum", "minItems",
        "minLength", "minimum", "properties", "required", "type", "$defs", "$ref", "const", "maxProperties",
    }
)  # fmt: skip
_ODD_TEXT: Final = (
    "",
    " ",
    "\0",
    "../x.md",
    "/etc/passwd",
    "~",
    "a\\b",
    "\u202e",
    "null",
    "[]",
    "{}",
    "#",
    "-1",
    "\ud800",
    "%2e%2e/x",
)
_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
MAX_TEXT: Final = 40
"""Characters of a text that is made up; long ones have tests of their own."""

Schema = Mapping[str, Any]


def arguments(schema: Schema, likely: Mapping[str, Sequence[object]]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for a tool with this input schema.

    Args:
        likely: for a parameter, or a property of one, values that mean something in the vault of the test; mixed in.
    """
    whole = _object(schema, schema.get("$defs", {}), likely)
    return whole | whole.flatmap(lambda good: _spoilt(good, sorted(schema["properties"])))


def _spoilt(good: dict[str, Any], names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """The same with one parameter of another type, left out, or unknown."""
    if not names:
        return st.just({**good, "no_such": 1})
    name = st.sampled_from(names)
    return st.one_of(
        st.builds(lambda name, value: {**good, name: value}, name, _JSON),
        name.map(lambda name: {key: value for key, value in good.items() if key != name}),
        st.just({**good, "no_such": 1}),
    )


def _object(schema: Schema, definitions: Schema, likely: Mapping[str, Sequence[object]]) -> st.SearchStrategy[Any]:
    properties = schema.get("properties", {})
    required = set(schema.get("required", ()))
    parts = {name: _value(part, definitions, likely, name) for name, part in properties.items()}
    if not parts and schema.get("additionalProperties") is not False:
        return st.dictionaries(_text({}, likely, "key"), _JSON, max_size=3)
    return st.fixed_dictionaries(
        {name: part for name, part in parts.items() if name in required},
        optional={name: part for name, part in parts.items() if name not in required},
    )


def _value(
    schema: Schema, definitions: Schema, likely: Mapping[str, Sequence[object]], name: str
) -> st.SearchStrategy[Any]:
    unknown = schema.keys() - _KNOWN
    assert not unknown, f"a schema says {unknown}, which nobody makes values for"
    if "$ref" in schema:
        return _value(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, likely, name)
    if "anyOf" in schema:
        return st.one_of([_value(part, definitions, likely, name) for part in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "string":
            return _text(schema, likely, name)
        case "integer":
            known = [value for value in likely.get(name, ()) if isinstance(value, int)]
            made = st.integers(schema.get("minimum", -5), schema.get("maximum", 2**40))
            return st.sampled_from(known) | made if known else made
        case "boolean":
            return st.booleans()
        case "array":
            items = _value(schema.get("items", {}), definitions, likely, name)
            return st.lists(items, min_size=schema.get("minItems", 0), max_size=min(schema.get("maxItems", 3), 3))
        case "object":
            return _object(schema, definitions, likely)
        case None:
            return _JSON
        case other:
            raise AssertionError(f"nobody makes values of type {other}")


def _text(schema: Schema, likely: Mapping[str, Sequence[object]], name: str) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), min(schema.get("maxLength", MAX_TEXT), MAX_TEXT)
    known = [value for value in likely.get(name, ()) if isinstance(value, str)]
    made = st.text(min_size=least, max_size=most) | st.sampled_from(_ODD_TEXT)
    return st.sampled_from(known) | made if known else made

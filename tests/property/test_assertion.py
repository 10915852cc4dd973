"""What the edge signs: nothing but exactly that is believed, once, for this request, by this start of home.

decisions.md 19; auth.md 7.8.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.auth.assertion import MAX_CHARS, SKEW_S, Assertion, Call, Keys, Once, TooLongError, meaningful, said
from service.auth.model import READ, SCOPES, WRITE, Grant
from tests.support.clock import HeldClock

KEY, OTHER = "a-shared-key-0123456789abcdef0123", "another-key-0123456789abcdef01234"
START = "0f" * 16
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEYS = Keys((KEY,))

words = st.text(max_size=40)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
grants = st.builds(
    Grant,
    id=words,
    kind=st.just("edge"),
    name=words,
    scopes=st.frozensets(st.sampled_from(SCOPES)),
    created=moments,
    expires=st.none() | moments,
    folders=st.lists(words, max_size=5).map(tuple),
    client_id=st.none() | words,
)
headers = st.lists(
    st.tuples(st.sampled_from([b"accept", b"mcp-name", b"mcp-param-x", b"cookie"]), st.binary(max_size=20)), max_size=6
)
calls = st.builds(Call.of, st.just("POST"), st.just("/mcp"), headers.map(meaningful), st.binary(max_size=200))
assertions = st.builds(Assertion, calls, st.none() | grants, words, st.integers(0, 2**50), words)


def heard(keys: Keys, signed: str) -> Assertion | None:
    found = keys.read([signed.encode()])
    return None if found is None else found.one


def answered(one: Assertion, start: str, keys: Keys = KEYS) -> str:
    """By home with `keys`, to what was signed with KEY."""
    found = keys.read([KEYS.sign(one).encode()])
    assert found is not None
    return found.answer(start)


@given(assertions)
def test_what_is_signed_is_read_as_it_was_said(one: Assertion) -> None:
    """Whatever names and folders hold; the grant arrives as kind `edge`."""
    assert heard(KEYS, KEYS.sign(one)) == one


@given(assertions, st.data())
def test_any_flipped_bit_is_refused(one: Assertion, data: st.DataObject) -> None:
    """Also one that decodes to the same bytes: base64 has several spellings."""
    signed = bytearray(KEYS.sign(one).encode())
    where = data.draw(st.integers(0, len(signed) * 8 - 1))
    signed[where // 8] ^= 1 << (where % 8)
    assert KEYS.read([bytes(signed)]) is None


@given(assertions, st.data())
def test_a_piece_of_one_is_none(one: Assertion, data: st.DataObject) -> None:
    """Cut, doubled, or with something added."""
    signed = KEYS.sign(one).encode()
    cut = data.draw(st.integers(0, len(signed) - 1))
    assert KEYS.read([signed[:cut]]) is None
    assert KEYS.read([signed[cut:] + b"x"]) is None
    assert KEYS.read([signed, signed]) is None
    assert KEYS.read([]) is None


@given(assertions)
def test_another_key_is_not_believed_and_both_are_while_changing(one: Assertion) -> None:
    """The new one signs, the old one is still believed, at either half first."""
    assert Keys((OTHER,)).read([KEYS.sign(one).encode()]) is None
    for changing in (Keys((KEY, OTHER)), Keys((OTHER, KEY))):
        assert heard(changing, KEYS.sign(one)) == one
        assert heard(Keys((OTHER,)), Keys((OTHER, KEY)).sign(one)) == one


@given(st.binary(max_size=100), st.binary(max_size=100), headers, headers)
def test_another_body_or_other_headers_are_another_call(
    body: bytes, swapped: bytes, first: list[tuple[bytes, bytes]], second: list[tuple[bytes, bytes]]
) -> None:
    """The digests differ where what means something differs, and only there."""
    one = Call.of("POST", "/mcp", meaningful(first), body)
    assert (one == Call.of("POST", "/mcp", meaningful(first), swapped)) is (body == swapped)
    is_same = meaningful(first) == meaningful(second)
    assert (one == Call.of("POST", "/mcp", meaningful(second), body)) is is_same
    assert all(name != b"cookie" for name, _ in meaningful(first))


def held(moment: datetime) -> HeldClock:
    return HeldClock(moment, ZoneInfo("UTC"))


def asserted(clock: HeldClock) -> Assertion:
    return said(Call.of("POST", "/mcp", (), b""), None, START, clock)


@pytest.mark.parametrize("off_s", [-SKEW_S - 1, -SKEW_S, 0, SKEW_S, SKEW_S + 1])
def test_clocks_may_differ_by_a_minute(off_s: int) -> None:
    """Either way, and not by more."""
    one = asserted(held(NOW + timedelta(seconds=off_s)))
    assert (Once(held(NOW)).why_not(one) is None) is (abs(off_s) <= SKEW_S)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 100)), max_size=30))
def test_nothing_is_believed_twice(steps: list[tuple[int, float]]) -> None:
    """A recorded request that is sent again at any later moment, whatever came in between."""
    clock = held(NOW)
    once = Once(clock)
    recorded = [asserted(held(NOW + timedelta(seconds=20 * number - 50))) for number in range(6)]
    believed: set[str] = set()
    for number, pause_s in steps:
        clock.move(timedelta(seconds=pause_s))
        one = recorded[number]
        if once.why_not(one) is None:
            assert one.nonce not in believed
            believed.add(one.nonce)


def test_what_was_forgotten_is_not_believed_when_a_clock_is_set_back() -> None:
    """decisions.md 19: a nonce is kept for as long as the clock says; what was recorded must not outlive it by that."""
    clock = held(NOW)
    once, recorded = Once(clock), asserted(clock)
    assert once.why_not(recorded) is None
    clock.move(timedelta(seconds=SKEW_S + 10))
    assert once.why_not(asserted(clock)) is None
    clock.move(timedelta(seconds=-20))
    assert "clock was set back" in str(once.why_not(recorded))
    assert once.why_not(asserted(clock)) is None


def test_memory_is_bounded_by_refusing_not_by_forgetting() -> None:
    """A flood cannot push a nonce out while it would still be believed."""
    clock = held(NOW)
    once = Once(clock, max_nonces=3)
    several = [asserted(clock) for _ in range(4)]
    assert [once.why_not(one) is None for one in several] == [True, True, True, False]
    assert once.why_not(several[0]) is not None
    clock.move(timedelta(seconds=SKEW_S + 1))
    assert once.why_not(asserted(clock)) is None


@given(assertions, words.filter(lambda word: "." not in word and word.isascii()))
def test_homes_answer_is_for_the_one_who_asked(one: Assertion, start: str) -> None:
    """It tells which start of home answers; to another request, or under another key, it says nothing."""
    answer = answered(one, start)
    assert KEYS.answered(one, answer) == start
    assert Keys((OTHER,)).answered(one, answer) is None
    assert KEYS.answered(asserted(held(NOW)), answer) is None
    assert KEYS.answered(one, answer[:-1]) is None
    assert KEYS.answered(one, "") is None
    assert KEYS.answered(one, answered(one, start, Keys((OTHER, KEY)))) == start  # with the key that the edge knows


def test_the_key_for_asking_is_not_the_one_for_answering() -> None:
    """A signature of one kind cannot pass for the other."""
    one = asserted(held(NOW))
    _, _, mac = answered(one, START).rpartition(".")
    assert KEYS.read([f"v1.{mac}".encode()]) is None
    assert KEY not in KEYS.sign(one)


def test_folders_that_do_not_fit_into_a_head_are_said_to_be_too_many() -> None:
    """Rather than cut short, which would widen what the client may see."""
    many = tuple(f"Folder {number} {'x' * 80}" for number in range(200))
    grant = Grant("g1", "oauth", "Claude", frozenset((READ, WRITE)), NOW, folders=many)
    with pytest.raises(TooLongError):
        KEYS.sign(said(Call.of("POST", "/mcp", (), b""), grant, START, held(NOW)))
    assert KEYS.read([b"v1." + b"a" * MAX_CHARS]) is None

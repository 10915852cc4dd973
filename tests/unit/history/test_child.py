"""A large commit runs in a process of its own. Source: issue 2 (search stays quick while a first commit runs)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import structlog

from service.errors import Closing, HistoryHeld, NoSpace, Unavailable, VaultMissing
from service.history import child
from service.history.commit import SMALL
from service.history.model import Deletions
from tests.support.timeline import Timeline


def fill(line: Timeline, count: int) -> None:
    for number in range(count):
        line.put(f"f{number % 10}/{number}.md", f"{number}\n")


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reason of every commit that was given to a child."""
    asked: list[str] = []
    real = child.commit

    def counted(*arguments: object) -> object:
        asked.append(str(arguments[2]))
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(child, "commit", counted)
    return asked


def test_a_large_commit_is_made_by_a_child_and_tells_the_same(line: Timeline, children: list[str]) -> None:
    fill(line, SMALL.files + 1)
    (line.vault / "link").symlink_to("f0/0.md")
    report = line.history.commit("start")
    assert children == ["start"]
    assert (report.added, len(report.commits)) == (SMALL.files + 1, 1)
    assert [problem.path for problem in report.problems] == ["link"]
    assert line.history.status().last_success is not None
    line.verify()


def test_a_small_commit_is_made_here(line: Timeline, children: list[str]) -> None:
    fill(line, SMALL.files)
    line.history.commit("start")
    assert children == []


def test_many_bytes_are_large_too(line: Timeline, children: list[str]) -> None:
    for number in range(30):
        line.put(f"{number}.bin", os.urandom(900_000))
    line.history.commit("start")
    assert children == ["start"]


def test_what_a_child_committed_is_known_here_afterwards(line: Timeline) -> None:
    fill(line, SMALL.files + 1)
    line.history.commit("start")
    line.put("new.md")
    assert line.history.commit("timer").added == 1


def test_tool_writes_are_journalled_while_a_child_commits(line: Timeline) -> None:
    fill(line, SMALL.files + 1)
    written: list[bool] = []

    def meanwhile() -> None:
        if not written:
            written.append(True)
            line.write("laptop", "f0/0.md", b"by a tool\n")

    line.history.commit("start", keep_going=meanwhile)
    line.history.commit("timer")
    assert line.at("f0/0.md") == b"by a tool\n"
    assert "laptop" in line.trailers("Strongroom-Grant")
    line.verify()


def test_a_childs_refusal_is_the_parents(line: Timeline) -> None:
    fill(line, SMALL.files + 1)
    line.history.commit("start")
    for path in line.vault.rglob("*.md"):
        path.write_bytes(b"")
    with pytest.raises(HistoryHeld, match="gone or empty at once"):
        line.history.commit("timer")
    assert line.history.status().is_held


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (["VaultMissing", "gone"], VaultMissing),
        (["NoSpace", "the disk that holds the history is full"], NoSpace),
        (["Busy", "the history is in use"], Unavailable),
        (["SomethingNew", "words"], Unavailable),
    ],
)
def test_every_refusal_of_a_child_has_a_kind_here(refused: list[str], kind: type[Exception]) -> None:
    with pytest.raises(kind, match=refused[1]):
        child._raise(*refused)


def test_a_child_is_ended_when_there_is_no_time_left(line: Timeline) -> None:
    fill(line, 3_000)

    def no_time() -> None:
        raise Closing

    def soon() -> None:
        if (line.git_dir / "objects/pack").exists() and any((line.git_dir / "objects/pack").iterdir()):
            raise Closing

    began = time.monotonic()
    with pytest.raises(Closing):
        child.commit(line.setup, line.clock.zone, "start", Deletions.GUARD, soon)
    assert time.monotonic() - began < 60
    with pytest.raises(Closing):
        child.commit(line.setup, line.clock.zone, "start", Deletions.GUARD, no_time)
    assert line.commit_count() == 0
    line.commit("start")
    line.verify()


def test_a_child_that_dies_is_told_and_the_next_commit_works(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(line, SMALL.files + 1)
    with monkeypatch.context() as patched:
        patched.setattr(child.sys, "executable", "/bin/false")
        with pytest.raises(Unavailable, match="ended early"):
            line.history.commit("start")
    assert line.history.commit("start").added == SMALL.files + 1


def test_a_child_gives_way_to_the_server(line: Timeline, tmp_path: Path) -> None:
    """Low priority: what the child's own kernel record says while it runs."""
    fill(line, 1_500)
    seen: list[int] = []

    def look() -> None:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_text().rpartition(")")[2].split()
                if b"service.history.child" in (stat.parent / "cmdline").read_bytes() and int(words[1]) == os.getpid():
                    seen.append(int(words[16]))
            except OSError:
                continue

    line.history.commit("start", keep_going=look)
    assert os.nice(0) + child.NICENESS in seen


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (b'Traceback (most recent call last):\n  File "x"\nKeyError: b"my secret diary"\n', "KeyError"),
        (b"dulwich.errors.NotTreeError: my secret diary", "dulwich.errors.NotTreeError"),
        (b"my secret diary", ""),
        (b"", ""),
    ],
)
def test_the_log_of_a_dead_child_keeps_the_kind_of_exception_and_not_its_words(said: bytes, kept: str) -> None:
    """An exception's words may quote a note. Source: what we never do."""
    with structlog.testing.capture_logs() as lines, pytest.raises(Unavailable):
        child._outcome(1, b"", said)
    assert [line["exception"] for line in lines] == [kept]
    assert "secret" not in str(lines)

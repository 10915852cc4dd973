"""When history is committed by itself. Source: decisions.md 1 and 12, issue 2; obsidian-git#140, #193, #1024, #68; gitwatch#103, #122."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from service.errors import Closing
from service.history.model import CommitReport
from service.jobs.autocommit import RETRY_AFTER, Autocommit, Rhythm
from service.jobs.scheduler import Clockwork, running
from tests.support.timeline import Timeline, timeline_in

RHYTHM = Rhythm(timedelta(minutes=30), quiet=timedelta(seconds=60), max_wait=timedelta(minutes=5))


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Timeline]:
    with timeline_in(tmp_path) as made:
        made.put("first.md")
        made.commit("start")
        yield made


@pytest.fixture
def auto(line: Timeline) -> Autocommit:
    return Autocommit(line.history, RHYTHM, line.clock)


def wait(line: Timeline, seconds: float) -> None:
    line.clock.move(timedelta(seconds=seconds))


def test_a_tools_writes_are_committed_after_a_quiet_minute(line: Timeline, auto: Autocommit) -> None:
    line.write("laptop", "a.md", b"1")
    wait(line, 59)
    auto.look()
    assert line.commit_count() == 1
    wait(line, 1)
    auto.look()
    assert line.trailers("Strongroom-Grant") == ["laptop", ""]


def test_an_assistant_that_never_rests_is_committed_once_per_longest_wait(line: Timeline, auto: Autocommit) -> None:
    """obsidian-git#140: not in mid-sentence; #1024: exactly one commit per max-wait."""
    for second in range(0, 600, 10):
        line.write("laptop", "a.md", f"{second}".encode())
        auto.look()
        wait(line, 10)
    assert line.commit_count() == 2


def test_looking_again_without_news_commits_nothing(line: Timeline, auto: Autocommit) -> None:
    line.put("outside.md")
    for _ in range(5):
        wait(line, 600)
        auto.look()
    assert line.commit_count() == 1


def test_what_changed_while_nobody_looked_is_committed_at_start(line: Timeline, auto: Autocommit) -> None:
    line.put("first.md", "changed while we were down\n")
    auto.at_start()
    assert line.trailers("Strongroom-Reason")[0] == "start"


def test_the_timer_commits_what_came_from_outside(line: Timeline, auto: Autocommit) -> None:
    line.put("outside.md")
    auto.on_time()
    assert line.trailers("Strongroom-Reason")[0] == "timer"


def test_the_last_commit_holds_what_was_written_until_then(line: Timeline, auto: Autocommit) -> None:
    line.write("laptop", "tool.md", b"1")
    line.put("outside.md")
    auto.finish()
    assert list(zip(line.trailers("Strongroom-Reason"), line.trailers("Strongroom-Grant"), strict=True))[:2] == [
        ("stop", ""),
        ("tools", "laptop"),
    ]


def test_the_last_commit_ends_what_is_running_and_keeps_its_time(line: Timeline, auto: Autocommit) -> None:
    """decisions.md 12: SIGTERM to exit within 10 s, whatever a commit is doing."""
    line.put("outside.md")
    entered = threading.Event()
    ended = threading.Event()

    def endless(_reason: str, **how: object) -> CommitReport:
        entered.set()
        keep_going = how["keep_going"]
        try:
            while True:
                keep_going()  # type: ignore[operator]
                time.sleep(0.001)  # the walk over a huge vault
        finally:
            ended.set()

    real = line.history.commit
    line.history.commit = endless  # type: ignore[method-assign,assignment]
    busy = threading.Thread(target=auto.on_time)
    busy.start()
    assert entered.wait(5)
    line.history.commit = real  # type: ignore[method-assign]
    began = time.monotonic()
    auto.finish(budget_s=3)
    busy.join(5)
    assert ended.is_set()
    assert time.monotonic() - began < 5
    assert line.trailers("Strongroom-Reason")[0] == "stop"


def test_a_last_commit_that_has_no_time_left_is_left_to_the_next_start(line: Timeline, auto: Autocommit) -> None:
    line.put("outside.md")
    auto.finish(budget_s=-1)
    assert line.commit_count() == 1
    assert line.history.status().last_error is None
    line.commit("start")
    assert line.commit_count() == 2


def held_back(line: Timeline) -> None:
    (line.vault / "first.md").unlink()


def test_a_failure_is_logged_once_and_its_end_too(line: Timeline, auto: Autocommit) -> None:
    """decisions.md, what a self-hoster expects: log at ERROR once, not each time."""
    held_back(line)
    with capture_logs() as logs:
        for _ in range(3):
            auto.on_time()
        line.put("first.md")
        auto.on_time()
    events = [entry["event"] for entry in logs]
    assert events.count("history.commit_failed") == 1
    assert [entry["log_level"] for entry in logs if entry["event"] == "history.commit_failed"] == ["error"]
    assert events.count("history.commit_works_again") == 1


def test_a_failed_commit_is_tried_again_a_minute_later(line: Timeline, auto: Autocommit) -> None:
    held_back(line)
    auto.on_time()
    line.put("first.md", "back, and changed\n")
    auto.look()
    assert line.commit_count() == 1
    line.clock.move(RETRY_AFTER)
    auto.look()
    assert line.trailers("Strongroom-Reason")[0] == "retry"
    assert auto.problems() == []


def test_readiness_hears_why_nothing_is_committed(line: Timeline, auto: Autocommit) -> None:
    assert auto.problems() == []
    held_back(line)
    auto.on_time()
    (problem,) = auto.problems()
    assert "the vault is empty" in problem


def test_readiness_hears_when_commits_stopped_coming(line: Timeline, auto: Autocommit) -> None:
    """decisions.md 9: the last successful commit is younger than twice the interval; nothing to commit counts."""
    wait(line, 60 * 60)
    assert auto.problems() == []
    wait(line, 2)
    (problem,) = auto.problems()
    assert "no commit has gone through for" in problem
    auto.on_time()
    assert auto.problems() == []


def test_an_interval_of_zero_switches_the_timer_off_and_readiness_does_not_wait_for_it(line: Timeline) -> None:
    """obsidian-git#193."""
    off = Rhythm(timedelta(0), RHYTHM.quiet, RHYTHM.max_wait)
    auto = Autocommit(line.history, off, line.clock)
    wait(line, 86_400)
    assert auto.problems() == []
    clockwork = Clockwork(auto, off)
    assert sorted(job.id for job in clockwork._scheduler.get_jobs()) == ["look", "start"]


def test_a_bug_in_a_commit_is_in_the_status_and_not_swallowed(
    line: Timeline, auto: Autocommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object, **_more: object) -> None:
        raise ZeroDivisionError("secret words of a note")

    monkeypatch.setattr(line.history._committer, "full", broken)
    with pytest.raises(ZeroDivisionError):
        auto.on_time()
    assert auto.problems() == ["a commit ended with a bug of ours (ZeroDivisionError); the log says where."]


def test_being_told_to_end_is_no_failure(line: Timeline, auto: Autocommit) -> None:
    def stop() -> None:
        raise Closing

    line.put("outside.md")
    with pytest.raises(Closing):
        line.history.commit("timer", keep_going=stop, may_use_child=False)
    assert line.history.status().last_error is None
    assert auto.problems() == []


def test_somebody_elses_commit_under_way_is_no_failure(line: Timeline, auto: Autocommit) -> None:
    with line.history.locks.history.writing():
        line.history.locks.history._timeout_s = 0.01
        other = threading.Thread(target=auto.on_time)
        with capture_logs() as logs:
            other.start()
            other.join(5)
    assert [entry["event"] for entry in logs] == ["history.busy"]
    assert line.history.status().last_error is None


def test_the_clockwork_commits_at_start_by_the_clock_and_at_the_end(line: Timeline) -> None:
    """The real scheduler: events are waited for, with a bound."""
    rhythm = Rhythm(timedelta(milliseconds=50), quiet=timedelta(0), max_wait=timedelta(0))
    auto = Autocommit(line.history, rhythm, line.clock)
    seen: dict[str, threading.Event] = {name: threading.Event() for name in ("start", "timer", "tools")}
    told = auto._tell_success

    def tell(reason: str, report: CommitReport, took_ms: float) -> None:
        told(reason, report, took_ms)
        if report.commits or reason == "start":
            seen[reason].set()

    auto._tell_success = tell  # type: ignore[method-assign]
    with running(Clockwork(auto, rhythm, look_every=timedelta(milliseconds=50))) as clockwork:
        assert seen["start"].wait(10)
        line.put("by the clock.md")
        assert seen["timer"].wait(10)
        line.write("laptop", "tool.md", b"1")
        assert seen["tools"].wait(10) or "laptop" in line.trailers("Strongroom-Grant")
        assert clockwork.problems() == []
        auto._tell_success = told  # type: ignore[method-assign]
        line.put("at the end.md")
    assert line.at("at the end.md") == b"text\n"
    assert clockwork.problems() == [
        "the scheduler does not run, so nothing is committed by itself; restart the service."
    ]
    line.verify()

"""Locks between real threads and real processes."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.errors import Busy, Misconfigured
from service.store import lock as lock_module
from service.store.lock import Lock

HOLDING = """
import sys
from pathlib import Path
from service.store.lock import Lock
lock = Lock(Path(sys.argv[1]), "the vault")
with lock.writing():
    print("held", flush=True)
    sys.stdin.readline()
"""
LIVING = """
import sys
from pathlib import Path
from service.store.lock import Lock
print(Lock(Path(sys.argv[1]), "the state").try_hold(), flush=True)
sys.stdin.readline()
"""
COUNTING = """
import sys
from pathlib import Path
from service.store.lock import Lock
lock, counter = Lock(Path(sys.argv[1]), "the vault", timeout_s=60), Path(sys.argv[2])
for _ in range(100):
    with lock.writing():
        counter.write_text(str(int(counter.read_text()) + 1))
"""
GREEDY = """
import sys, time
from pathlib import Path
from service.store.lock import Lock
lock = Lock(Path(sys.argv[1]), "the vault", timeout_s=60)
print("running", flush=True)
while True:
    with lock.writing():
        time.sleep(0.002)
"""


@contextmanager
def process(program: str, *arguments: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that said its first line; told to end, or killed, afterwards."""
    started = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writer.lock"


def test_another_process_waits_and_then_hears_that_it_is_busy(path: Path) -> None:
    with process(HOLDING, path):
        started = time.monotonic()
        with pytest.raises(Busy, match="the vault is in use by another process"), Lock(path, "the vault").writing(0.2):
            pass
        assert 0.2 <= time.monotonic() - started < 5


def test_a_killed_holder_leaves_the_lock_free(path: Path) -> None:
    with process(HOLDING, path) as (holder, _):
        holder.kill()
        holder.wait()
        with Lock(path, "the vault").writing(5):
            pass


def test_processes_and_threads_never_hold_it_together(path: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    others = [subprocess.Popen([sys.executable, "-c", COUNTING, path, counter]) for _ in range(2)]
    lock = Lock(path, "the vault", timeout_s=60)

    def count() -> None:
        for _ in range(100):
            with lock.writing():
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait(60) for other in others] == [0, 0]
    assert counter.read_text() == "500"


def test_a_busy_server_does_not_starve_a_command(path: Path) -> None:
    with process(GREEDY, path):
        lock = Lock(path, "the vault", timeout_s=10)
        started = time.monotonic()
        for _ in range(20):
            with lock.writing():
                pass
        assert time.monotonic() - started < 5


def test_another_thread_hears_that_it_is_busy(path: Path) -> None:
    lock = Lock(path, "the vault")
    heard: list[str] = []

    def ask() -> None:
        try:
            with lock.writing(0.05):
                heard.append("held")
        except Busy as error:
            heard.append(error.code)

    with lock.writing():
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert heard == ["BUSY"]


def test_the_same_thread_may_enter_again_and_only_the_last_exit_lets_go(path: Path) -> None:
    lock, other = Lock(path, "the vault"), Lock(path, "the vault")
    with lock.writing():
        with lock.writing():
            pass
        with pytest.raises(Busy), other.writing(0):
            pass
    with other.writing(0):
        pass


def test_an_error_inside_lets_go(path: Path) -> None:
    lock = Lock(path, "the vault")
    with pytest.raises(RuntimeError), lock.writing():
        raise RuntimeError
    with Lock(path, "the vault").writing(0):
        pass


def test_waiting_in_vain_leaves_nothing_locked_or_open(path: Path) -> None:
    lock = Lock(path, "the vault")
    with process(HOLDING, path):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with pytest.raises(Busy), lock.writing(0):
                pass
        assert len(os.listdir("/proc/self/fd")) == before
    with lock.writing(5):
        pass


def test_a_child_process_that_inherited_the_descriptor_does_not_keep_the_lock(path: Path) -> None:
    """Closing ours alone would leave it locked for the child's life."""
    with Lock(path, "the vault").writing():
        (held,) = (int(fd) for fd in os.listdir("/proc/self/fd") if _leads_to(fd, path))
        child = subprocess.Popen(["sleep", "60"], pass_fds=[held])
    try:
        with Lock(path, "the vault").writing(1):
            pass
    finally:
        child.kill()
        child.wait()


def _leads_to(descriptor: str, path: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == str(path)
    except OSError:
        return False


def test_lock_files_are_private_and_no_link_is_followed(path: Path, tmp_path: Path) -> None:
    with Lock(path, "the vault").writing():
        pass
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured), Lock(path, "the vault").writing():
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_second_server_hears_who_the_first_is(path: Path) -> None:
    """Bar 8: two servers on one state."""
    with process(LIVING, path) as (first, said):
        assert said == "None"
        holder = Lock(path, "the state").try_hold()
        assert holder is not None
        assert holder.pid == first.pid
        assert str(holder).startswith(f"process {first.pid}, started 20")
        assert Lock(path, "the state").holder() == holder
        first.kill()
        first.wait()
        lock = Lock(path, "the state")
        assert lock.holder() is None
        assert lock.try_hold() is None
        assert lock.try_hold() is None
        mine = lock.holder()
        assert mine is not None
        assert mine.pid == os.getpid()
        lock.release()
        assert lock.holder() is None


def test_a_holder_that_wrote_nothing_is_another_process(path: Path) -> None:
    with process(HOLDING, path):
        assert str(Lock(path, "the state").holder()) == "another process"


def test_nobody_holds_a_lock_that_was_never_made(path: Path) -> None:
    assert Lock(path, "the state").holder() is None
    assert not path.exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_a_file_system_without_locks_is_named(path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lock_module.fcntl, "flock", refuse)
    for act in (lambda: Lock(path, "the vault").writing().__enter__(), lambda: Lock(path, "the state").try_hold()):
        with pytest.raises(Misconfigured, match="has no locks"):
            act()

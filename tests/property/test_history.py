"""Any sequence of changes, from tools and from outside, can be taken back to any earlier state, byte for byte.

Source: issue 2 (restore brings back bytes exactly), style.md (property tests: any sequence of operations can be restored).
The model is a dictionary; plain git is asked at the end of every run.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from datetime import timedelta
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from service.history import restore
from service.history.model import Deletions
from service.history.restore import Asked
from service.vault.model import Actor
from tests.support.timeline import Timeline, contents, timeline_in

NAMES = (
    "n.md", "ü.md", "f/n.md", "f/g/n.md", "f/g", "f", "F/n.md", "日本/ノート.md", "new\nline.md", " space .md", "caf\udce9.md", "-x.md",
    "a b/c d.txt", "attach.bin", ".obsidian/app.json", ".trash/n.md", 'q"uote.md', "x\\y.md", "👨‍👩‍👧.md", "e\u0301.md",
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from([b"", b"a\n", b"a\r\nb\r\n", b"\xef\xbb\xbfbom\n", b"no end", b"\0\xff" * 40, b"<<<<<<< x\n"]),
    st.binary(max_size=300),
    st.integers(0, 5).map(lambda number: f"text {number}\n".encode()),
)
GRANTS = st.sampled_from(["laptop", "phone"])
State = dict[str, tuple[bytes, bool]]


class Histories(RuleBasedStateMachine):
    """A vault that is changed in every way, and the states it was committed in."""

    states = Bundle("states")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.opened = timeline_in(self.folder)
        self.line: Timeline = self.opened.__enter__()
        self.recorded: dict[str, State] = {}

    def teardown(self) -> None:
        if not hasattr(self, "line"):
            return
        try:
            self.commit()
            if self.recorded:
                assert self.line.git("fsck", "--strict", "--full", "--no-dangling") == ""
                self.line.verify()
                for commit, state in self.recorded.items():
                    assert self.checked_out(commit) == state
        finally:
            self.opened.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    @rule(name=st.sampled_from(NAMES), text=TEXTS, is_program=st.booleans())
    def change_from_outside(self, name: str, text: bytes, is_program: bool) -> None:
        path = self.free_place(name)
        path.write_bytes(text)
        path.chmod(0o755 if is_program else 0o644)

    @rule(name=st.sampled_from(NAMES), text=TEXTS, grant=GRANTS)
    def write_by_a_tool(self, name: str, text: bytes, grant: str) -> None:
        path = self.free_place(name)
        mode = path.stat().st_mode if path.exists() else 0o644
        self.line.write(grant, name, text)
        path.chmod(mode & 0o777)

    @rule(name=st.sampled_from(NAMES), grant=GRANTS)
    def delete_by_a_tool(self, name: str, grant: str) -> None:
        if (self.line.vault / name).is_file():
            self.line.write(grant, name, None)

    @rule(name=st.sampled_from(NAMES))
    def delete_from_outside(self, name: str) -> None:
        path = self.line.vault / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()

    @rule(name=st.sampled_from(NAMES), to=st.sampled_from(NAMES))
    def rename_from_outside(self, name: str, to: str) -> None:
        source = self.line.vault / name
        if source.exists() and not to.startswith(name + "/") and not name.startswith(to + "/") and name != to:
            target = self.free_place(to)
            target.unlink(missing_ok=True)
            source.rename(target)

    @rule(name=st.sampled_from(NAMES))
    def stamp_an_old_time(self, name: str) -> None:
        if (self.line.vault / name).exists():
            os.utime(self.line.vault / name, (86_400, 86_400))

    @rule()
    def flush(self) -> None:
        self.line.clock.move(timedelta(minutes=2))
        self.line.history.flush()

    @rule()
    def restart(self) -> None:
        self.opened.__exit__(None, None, None)
        clock = self.line.clock
        self.opened = timeline_in(self.folder, clock=clock)
        self.line = self.opened.__enter__()

    @rule(target=states)
    def commit(self) -> str:
        """A state on record: what the vault holds and the commit that holds it."""
        self.line.commit(deletions=Deletions.ACCEPT)
        head = self.line.history.git.head().commit or ""
        if head:
            self.recorded[head] = contents(self.line.vault)
        return head

    @rule(commit=states)
    def restore_everything_exactly(self, commit: str) -> None:
        if not commit:
            return
        done = self.restore(Asked((), revision=commit, is_exact=True))
        assert done.failed == ()
        assert contents(self.line.vault) == self.recorded[commit]

    @rule(commit=states, name=st.sampled_from(NAMES))
    def restore_one_note(self, commit: str, name: str) -> None:
        if not commit or name not in self.recorded[commit]:
            return
        done = self.restore(Asked((name,), revision=commit))
        if not done.failed:
            assert contents(self.line.vault)[name] == self.recorded[commit][name]

    @rule(commit=states)
    def read_every_old_text(self, commit: str) -> None:
        if not commit:
            return
        for name, (text, _) in self.recorded[commit].items():
            assert self.line.history.log.read(name, commit).data == text

    def restore(self, asked: Asked) -> restore.Restored:
        self.line.clock.move(timedelta(seconds=1))
        return restore.apply(self.line.history, asked, Actor("owner", "owner", permit=lambda: None))

    def free_place(self, name: str) -> Path:
        """The path of `name`, with folders made and whatever blocks it taken away."""
        path = self.line.vault / name
        for above in reversed(path.parents):
            if above.is_relative_to(self.line.vault) and above.is_file():
                above.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        return path

    def checked_out(self, commit: str) -> State:
        """What plain git gives out for a commit."""
        if not self.line.names(commit):
            return {}
        packed = self.line.git_bytes("archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            files = [member for member in archive if member.isfile()]
            return {file.name: (_bytes(archive, file), bool(file.mode & 0o100)) for file in files}


def _bytes(archive: tarfile.TarFile, file: tarfile.TarInfo) -> bytes:
    held = archive.extractfile(file)
    return b"" if held is None else held.read()


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)

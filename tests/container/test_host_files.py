"""What a host reads in `container/`: each file is given to the real tool that reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.engine import CHECKOUT, Engine

HOST_FILES = CHECKOUT / "container"


def test_quadlet_files_make_the_hardened_service(podman: Engine) -> None:
    """decisions 25: read by the generator of podman in Debian trixie, which is newer than this machine's."""
    script = (
        "set -e; cd /tmp\n"
        "apt-get update -qq >/dev/null 2>&1; apt-get download -qq podman >/dev/null 2>&1; dpkg -x podman_*.deb podman\n"
        "QUADLET_UNIT_DIRS=/units podman/usr/libexec/podman/quadlet -dryrun -user"
    )
    made = podman.run(
        "run",
        "--rm",
        "--network=host",
        "--volume",
        f"{HOST_FILES}:/units:ro",
        podman.base_image,
        "sh",
        "-c",
        script,
        timeout_s=180,
    ).stdout
    starts = re.findall(r"^ExecStart=(/usr/bin/podman run .*)$", made, re.MULTILINE)
    (edge,) = (line for line in starts if "--name strongroom-edge " in line)
    assert "--network host" in edge
    assert edge.endswith("localhost/strongroom:latest edge")
    assert "/vault" not in edge
    assert "--secret strongroom-edge-key," in edge
    (start,) = (line for line in starts if line != edge)
    expected = (
        "--read-only ",
        "--cap-drop all",
        "no-new-privileges",
        "--pids-limit 256",
        "--memory=1g",
        "--userns keep-id",
    )
    assert [words for words in expected if words not in start] == []
    assert "--publish 127.0.0.1:8484:8484" in start
    assert r'--health-cmd "[\"python\", \"-m\", \"ops.health\"]"' in start
    assert "-v %h/Notes:/vault:Z -v strongroom-state:/state" in start
    assert "podman volume create --ignore strongroom-state" in made


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_unit_is_sound_and_confined(tmp_path: Path) -> None:
    """decisions 25: systemd-analyze verify; and its own measure of exposure, where 10 is worst."""
    text = (HOST_FILES / "strongroom.service").read_text(encoding="utf-8")
    unit = tmp_path / "strongroom.service"
    unit.write_text(
        text.replace("/opt/strongroom/bin/strongroom serve", "/bin/true").replace("User=strongroom", "User=daemon"),
        encoding="utf-8",
    )
    verified = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    measured = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", unit],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert measured.returncode == 0, measured.stdout[-300:]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_the_tunnels_unit_is_sound_and_opens_nothing_at_home() -> None:
    """The issue: an outbound-only tunnel; the far end listens on loopback."""
    unit = HOST_FILES / "strongroom-tunnel.service"
    verified = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    (command,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r" -([LRDWg])(?: (\S+))?", command) == [("R", "127.0.0.1:8485:127.0.0.1:8484")]
    assert "StrictHostKeyChecking=yes" in command


def test_lock_files_name_no_place_and_pin_every_file_by_hash() -> None:
    """house.md, facts 10: a hashed requirements lock holds no URL."""
    for lock in (HOST_FILES / "requirements.lock", HOST_FILES / "build.lock", CHECKOUT / "tests" / "requirements.lock"):
        text = lock.read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index" not in text
        entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
        assert len(entries) > 0
        assert [entry.split("==")[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []

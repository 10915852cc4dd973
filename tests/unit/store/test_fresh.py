"""How the way to keep up with a vault is chosen: from lines of /proc/self/mountinfo as machines have them (issue 6; search.md 5)."""

from __future__ import annotations

import pytest

from service.store import fresh
from service.store.fresh import Mode

LINES = {
    "ext4": "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw",
    "overlay": "901 880 0:52 / / rw,relatime master:298 - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=/u,workdir=/w",
    "btrfs": "35 1 0:29 /@home /home rw,relatime shared:2 - btrfs /dev/sda2 rw,subvolid=256,subvol=/@home",
    "nfs4": "990 901 0:61 / /vault rw,relatime - nfs4 nas:/volume1/notes rw,vers=4.1",
    "virtiofs": "991 901 0:62 /notes /vault rw,relatime - virtiofs mac rw",
    "fakeowner": "992 901 0:63 / /vault rw,nosuid,nodev,relatime - fakeowner /run/host_mark/Users rw",
    "fuse.rclone": "993 901 0:64 / /vault rw,nosuid - fuse.rclone drive: rw,user_id=0",
    "9p": "994 901 0:65 / /vault rw - 9p C:\\134 rw,aname=drvfs;path=C:\\134",
    "bind": "995 901 259:2 /srv/notes /vault rw,relatime master:1 - ext4 /dev/nvme0n1p2 rw",
    "below": "996 995 0:66 / /vault/my\\040photos rw - cifs //nas/photos rw",
    "beside": "997 901 0:67 / /vault2 rw - cifs //nas/photos rw",
    "local below": "998 995 0:68 / /vault/tmp rw - tmpfs tmpfs rw",
}


@pytest.mark.parametrize(
    ("mount", "others", "mode", "why"),
    [
        (22, ["ext4"], Mode.EVENTS, "ext4 tells of every change"),
        (901, ["overlay"], Mode.EVENTS, "overlay tells of every change"),
        (35, ["ext4", "btrfs"], Mode.EVENTS, "btrfs tells of every change"),
        (990, ["overlay", "nfs4"], Mode.WALK, "nfs4 does not tell of changes that others make"),
        (991, ["overlay", "virtiofs"], Mode.WALK, "virtiofs does not tell of changes that others make"),
        (992, ["overlay", "fakeowner"], Mode.WALK, "fakeowner does not tell of changes that others make"),
        (993, ["overlay", "fuse.rclone"], Mode.WALK, "fuse.rclone does not tell of changes that others make"),
        (994, ["overlay", "9p"], Mode.WALK, "9p does not tell of changes that others make"),
        (995, ["overlay", "bind"], Mode.EVENTS, "ext4 tells of every change"),
        (995, ["overlay", "bind", "below"], Mode.WALK, "cifs does not tell of changes that others make"),
        (995, ["overlay", "bind", "beside", "local below"], Mode.EVENTS, "ext4 tells of every change"),
        (4, ["overlay"], Mode.WALK, "the mount of the vault is not known"),
    ],
)
def test_events_are_trusted_where_every_mount_at_and_below_the_vault_is_local(
    mount: int, others: list[str], mode: Mode, why: str
) -> None:
    """search.md 5: network, FUSE and the shares of Docker Desktop send no events for what others change."""
    choice = fresh.choose("auto", "\n".join(LINES[name] for name in others), mount, "/vault")
    assert (choice.mode, choice.why) == (mode, why)


def test_the_owner_s_word_goes_before_what_the_file_system_is() -> None:
    """Issue 6: overridable; events on a file system that sends none are honoured with a warning."""
    mounts = LINES["nfs4"]
    assert fresh.choose("walk", LINES["bind"], 995, "/vault").mode is Mode.WALK
    insisted = fresh.choose("events", mounts, 990, "/vault")
    assert (insisted.mode, insisted.why) == (Mode.EVENTS, "STRONGROOM_FRESHNESS=events, although nfs4 may not tell")
    assert "although" not in fresh.choose("events", LINES["bind"], 995, "/vault").why


def test_lines_that_are_no_mounts_are_passed_over() -> None:
    assert fresh.choose("auto", "\nodd\n1 2 3 4 5 6 7 8\n" + LINES["ext4"], 22, "/vault").mode is Mode.EVENTS

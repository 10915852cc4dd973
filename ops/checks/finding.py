"""The values that checks take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from service.clock import Clock
from service.settings import Settings

if TYPE_CHECKING:
    from ops.checks.survey import Survey


class Verdict(StrEnum):
    """How a check ended. Only FAIL makes doctor's exit code 1."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's outcome: what was found, and, when it is not ok, what that means and what to do."""

    verdict: Verdict
    found: str
    means: str = ""
    todo: str = ""


def ok(found: str) -> Finding:
    """All is as it should be."""
    return Finding(Verdict.OK, found)


def warn(found: str, means: str, todo: str) -> Finding:
    """Worth a look; it works meanwhile."""
    return Finding(Verdict.WARN, found, means, todo)


def fail(found: str, means: str, todo: str) -> Finding:
    """Somebody must act."""
    return Finding(Verdict.FAIL, found, means, todo)


@dataclass
class Patient:
    """What is looked at. The vault is surveyed once, when a check first asks for it."""

    settings: Settings
    clock: Clock
    environ: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def survey(self) -> Survey:
        """One walk over the vault."""
        from ops.checks import survey

        return survey.of(self.settings, self.clock.now())


Check = Callable[[Patient], Finding]

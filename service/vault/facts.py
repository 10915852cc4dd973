"""What is remembered of notes' raw texts, hidden parts included: for changes that go through all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.vault.parts import links
from service.vault.parts.links import LinkUse
from service.vault.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Facts:
    """One `Remembered` for each kind of thing."""

    links: Remembered[LinkUse] = field(default_factory=lambda: Remembered(links.of, links.may_hold))

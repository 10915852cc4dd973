"""Finding bytes in bytes as quickly as memory is read. The only module that knows stringzilla.

Give it immutable `bytes` only: stringzilla does not keep a `bytearray` from being resized while it looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import stringzilla

find: Final[Callable[[bytes, bytes, int, int], int]] = stringzilla.find
"""As `data.find(wanted, start, end)`; `wanted` is not empty."""

count: Final[Callable[[bytes, bytes, int, int], int]] = stringzilla.count
"""As `data.count(wanted, start, end)`; `wanted` is not empty."""

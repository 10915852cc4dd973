"""Starting quickly: what the libraries would do at import for nobody, put off until somebody wants it.

Half of the time that a server of the MCP SDK needs before its first answer goes into building some two hundred pydantic
models, importing the SDK's own client, and looking for garbage among what will never be any. `quickly` is entered by the
commands that serve, before anything heavy is imported. Nothing is replaced: each library is asked by a switch of its own,
or by one of Python's. Figures: docs/explanation/search.md, "Starting".
"""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

_UNUSED: Final = "rich"
"""structlog and the SDK dress tracebacks up with it where it can be imported; ours say types and places only (`logs`)."""

_SDK: Final = "mcp"
_M_ARENA_MAX: Final = -8  # malloc.h of glibc


def without_garbage() -> None:
    """Look for no garbage from here on: imports make a hundred thousand objects that all stay. Undone by `settled`."""
    gc.disable()


def settled() -> None:
    """What is there now will stay, so it is not looked through again: collections see only what is made from here on."""
    gc.freeze()
    gc.enable()
    _give_memory_back()


@contextmanager
def quickly() -> Iterator[None]:
    """Import heavy things within this block. Does nothing for what was imported before."""
    without_garbage()
    _keep_memory_together()
    sys.modules.setdefault(_UNUSED, None)  # type: ignore[arg-type]  # "cannot be imported" (Python reference, 5.3.1)
    _leave_client_out()
    with models_built_when_used():
        yield


@contextmanager
def models_built_when_used() -> Iterator[None]:
    """Let pydantic build the validators of models and adapters that are made in this block at their first use.

    That is its own setting `defer_build`, given once for all of them as the default; since pydantic 2.14 a first use may
    happen in several threads at once.
    """
    from pydantic import BaseModel, TypeAdapter

    adapters = TypeAdapter.__init__
    usual, usual_of_adapters = BaseModel.model_config, adapters.__kwdefaults__
    BaseModel.model_config = {**usual, "defer_build": True}
    adapters.__kwdefaults__ = {**(usual_of_adapters or {}), "config": {"defer_build": True}}
    try:
        yield
    finally:
        BaseModel.model_config = usual
        adapters.__kwdefaults__ = usual_of_adapters


def _keep_memory_together() -> None:
    """Let glibc serve all threads from one heap: what each of many keeps for itself is never given back (4 MiB at rest).

    Python's threads take turns anyway. Other C libraries do not know this, or have one heap.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)


def _give_memory_back() -> None:
    """Let glibc return what start and warming used for a while, some 30 MiB for a large vault."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _leave_client_out() -> None:
    """Make the SDK's package importable without running its `__init__`, which imports the client and all it needs."""
    if _SDK in sys.modules:
        return
    spec = importlib.util.find_spec(_SDK)
    if spec is not None:
        package = _Unopened(_SDK)
        package.__spec__, package.__loader__, package.__path__ = (
            spec,
            spec.loader,
            spec.submodule_search_locations or [],
        )
        package.__file__, package.__package__ = spec.origin, _SDK
        sys.modules[_SDK] = package


class _Unopened(ModuleType):
    """A package that is imported for its modules alone. Its own names come with the first that is asked for."""

    def __getattr__(self, name: str) -> object:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]  # nothing is left to be opened
        spec.loader.exec_module(self)
        return getattr(self, name)

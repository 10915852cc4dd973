"""A real Chromium without a window, driven over its DevTools pipe: what people do, and what the browser then does.

with Chromium.started(tmp_path) as chromium:
    tab = chromium.tab()                       # cookies of its own, like another person's browser
    tab.stand_in("https://client.example")     # answers for a site that is not there
    tab.open(url)
    tab.press("Tab")

Two pipes and JSON (https://chromedevtools.github.io/devtools-protocol), so no library. Nothing but this machine is reached:
every other request is answered here, or refused.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

WITHIN_S: Final = 20.0
BINARY: Final = shutil.which("chromium") or shutil.which("chromium-browser")
AXE: Final = Path(__file__).parents[2] / ".cache" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
_FLAGS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--no-sandbox",  # tests run as root in containers; the pages are ours
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
_KEYS: Final = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Space": (32, " "),
    "ArrowUp": (38, ""),
    "ArrowDown": (40, ""),
}


def require() -> None:
    """Skip the module where there is no Chromium; under CI that is a failure."""
    _require(BINARY is not None, "chromium is not there: ops/test installs it on Debian, as root under CI=true")


def require_axe() -> None:
    """Skip the test where npm could not be had; under CI that is a failure."""
    _require(AXE.exists(), "axe-core is not there: ops/test installs it where npm is")


def _require(is_there: bool, why: str) -> None:
    if not is_there:
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why, allow_module_level=True)


def wait_until(is_so: Callable[[], bool], what: Callable[[], str]) -> None:
    """Ask again and again, for what the browser tells nobody by itself.

    Raises:
        AssertionError: when it takes longer than WITHIN_S.
    """
    ends = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < ends, f"not within {WITHIN_S} s: {what()}"
        time.sleep(0.02)


@dataclass
class Chromium:
    """One browser process."""

    process: subprocess.Popen[bytes]
    _to: int
    _from: int
    _next_id: int = 0
    _answers: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    _tabs: dict[str, Tab] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _is_gone: bool = False

    @staticmethod
    @contextmanager
    def started(folder: Path) -> Iterator[Chromium]:
        """Start one with its profile below `folder`; end it at the end."""
        assert BINARY is not None
        its_in, our_out = os.pipe()
        our_in, its_out = os.pipe()

        def take_three_and_four() -> None:
            keep_in, keep_out = os.dup(its_in), os.dup(its_out)  # neither may be 3 or 4 while they are moved there
            os.dup2(keep_in, 3)
            os.dup2(keep_out, 4)

        process = subprocess.Popen(
            [BINARY, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=take_three_and_four,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(its_in)
        os.close(its_out)
        chromium = Chromium(process, our_out, our_in)
        reader = threading.Thread(target=chromium._read, name="chromium", daemon=True)
        reader.start()
        try:
            yield chromium
        finally:
            process.kill()
            process.wait(10)
            reader.join(10)
            os.close(our_out)
            os.close(our_in)

    def tab(self) -> Tab:
        """A tab with cookies and history of its own."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        with self._changed:
            self._tabs[session] = tab
        for domain in ("Page", "Network", "Runtime", "Log"):
            tab.ask(f"{domain}.enable")
        tab.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])
        return tab

    def ask(self, method: str, session: str | None = None, **params: object) -> Mapping[str, Any]:
        """Send a command and wait for what it returns."""
        asked = self.send(method, session, **params)
        self.wait_until(lambda: asked in self._answers, f"{method} was not answered")
        answer = self._answers.pop(asked)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: Mapping[str, Any] = answer["result"]
        return result

    def send(self, method: str, session: str | None = None, **params: object) -> int:
        """Send a command and do not wait; its number."""
        with self._changed:
            self._next_id += 1
            number = self._next_id
            message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
            os.write(self._to, json.dumps(message).encode() + b"\0")
        return number

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for something that a message from the browser brings about.

        Raises:
            AssertionError: when it takes longer than WITHIN_S.
        """
        ends = time.monotonic() + WITHIN_S
        with self._changed:
            while not is_so():
                assert not self._is_gone, f"chromium is gone: {what}"
                assert self._changed.wait(max(0.0, ends - time.monotonic())), f"not within {WITHIN_S} s: {what}"

    def _read(self) -> None:
        received = b""
        while piece := os.read(self._from, 1 << 16):
            *whole, received = (received + piece).split(b"\0")
            for one in whole:
                self._take(json.loads(one))
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()

    def _take(self, message: Mapping[str, Any]) -> None:
        with self._changed:
            if "id" in message:
                self._answers[message["id"]] = message
            elif (tab := self._tabs.get(message.get("sessionId", ""))) is not None:
                tab.take(message["method"], message["params"])
            self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that a page caused: `headers` in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    kind: str


@dataclass
class Tab:
    """One tab. `asked` are the requests it made; `went` are the places its pages led to, apps included; `said` is what
    the browser complained about (a policy that was broken, a script that failed)."""

    chromium: Chromium
    session: str
    asked: list[Asked] = field(default_factory=list)
    went: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    loads: int = 0
    _stands_for: list[str] = field(default_factory=list)

    def ask(self, method: str, **params: object) -> Mapping[str, Any]:
        """A command for this tab."""
        return self.chromium.ask(method, self.session, **params)

    def stand_in(self, origin: str) -> None:
        """Answer for a site from now on: every page of it says `arrived`."""
        self._stands_for.append(origin)

    # -- what a person does --------------------------------------------------------------------------------------------

    def open(self, url: str, referrer: str = "https://client.example/") -> None:
        """Go there, as from a link on another site, and wait until it is drawn."""
        with self.loading():
            self.ask("Page.navigate", url=url, referrer=referrer)

    def back(self) -> None:
        """Press the back button."""
        history = self.ask("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        with self.loading():
            self.ask("Page.navigateToHistoryEntry", entryId=entry["id"])

    def press(self, key: str, *, with_shift: bool = False) -> None:
        """Press one of Tab, Enter, Space and the arrows."""
        code, text = _KEYS[key]
        common = {
            "key": " " if key == "Space" else key,
            "code": key,
            "windowsVirtualKeyCode": code,
            "modifiers": 8 if with_shift else 0,
        }
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Type into what has the focus."""
        self.ask("Input.insertText", text=text)

    def tab_to(self, selector: str, most: int = 20) -> None:
        """Press Tab until this has the focus."""
        for _ in range(most):
            if self.see(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            self.press("Tab")
        raise AssertionError(f"the Tab key does not get to {selector}")

    def click(self, selector: str) -> None:
        """Click in the middle of it, after scrolling there."""
        box = self.see(
            f"(()=>{{const e=document.querySelector({json.dumps(selector)});e.scrollIntoView({{block:'center'}});"
            "const r=e.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Wait until what happens inside has loaded a page."""
        before = self.loads
        yield
        self.chromium.wait_until(lambda: self.loads > before, "no page was loaded")

    # -- what a person sees --------------------------------------------------------------------------------------------

    def see(self, expression: str) -> Any:
        """The value of an expression in the page (the tools may, whatever the page's policy says)."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    @property
    def url(self) -> str:
        return str(self.see("location.href"))

    @property
    def text(self) -> str:
        """The words on the page."""
        return " ".join(str(self.see("document.body.innerText")).split())

    def look(self, width: int, *, is_dark: bool, height: int = 800) -> None:
        """Be so wide (CSS pixels), in light or dark."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if is_dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def complaints(self) -> list[str]:
        """What axe-core finds wrong with the page as it is drawn."""
        self.see(AXE.read_text(encoding="utf-8") + ";0")
        found = self.see("axe.run(document,{resultTypes:['violations']}).then(r=>r.violations)")
        return [f"{one['id']}: {[node['html'] for node in one['nodes']]}" for one in found]

    def picture(self, path: Path) -> None:
        """Save what is drawn, the whole length of it."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    # -- what the browser tells ----------------------------------------------------------------------------------------

    def arrived_at(self, start: str) -> str:
        """Wait until a page has led to an address that begins so, even one that no page is drawn for; the address."""
        self.chromium.wait_until(lambda: any(url.startswith(start) for url in self.went), f"{start}: {self.went}")
        return next(url for url in self.went if url.startswith(start))

    def take(self, method: str, params: Mapping[str, Any]) -> None:
        """A message about this tab; in the reader's thread."""
        match method:
            case "Fetch.requestPaused":
                self._answer(params)
            case "Page.loadEventFired":
                self.loads += 1
            case "Page.frameNavigated" if params.get("type") == "BackForwardCacheRestore":
                self.loads += 1  # the page as it was left; nothing is loaded
            case "Page.frameRequestedNavigation" | "Page.frameScheduledNavigation":
                self.went.append(params["url"])
            case "Log.entryAdded" if params["entry"]["source"] in ("security", "violation", "javascript"):
                self.said.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.said.append(str(params["exceptionDetails"].get("text")))

    def _answer(self, params: Mapping[str, Any]) -> None:
        request, number = params["request"], params["requestId"]
        headers = {name.lower(): value for name, value in request["headers"].items()}
        self.asked.append(Asked(request["method"], request["url"], headers, params["resourceType"]))
        self.went.append(request["url"])
        parts = urlsplit(request["url"])
        if f"{parts.scheme}://{parts.netloc}" in self._stands_for:
            body = base64.b64encode(b"<!doctype html><title>client</title><p>arrived").decode()
            told = [{"name": "Content-Type", "value": "text/html"}]
            self.chromium.send(
                "Fetch.fulfillRequest",
                self.session,
                requestId=number,
                responseCode=200,
                responseHeaders=told,
                body=body,
            )
        else:
            self.chromium.send("Fetch.continueRequest", self.session, requestId=number)

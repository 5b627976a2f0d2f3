"""Chromium by its DevTools protocol over a pipe: the standard library is enough."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip


def found() -> str | None:
    """The path of an installed Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with one page; what it is asked and answers goes through two pipes."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, self._write = os.pipe()
        self._read, up = os.pipe()

        def pipes() -> None:  # Chromium reads commands from 3 and answers on 4
            given, answers = os.dup(down), os.dup(up)
            os.dup2(given, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={self._folder.name}"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down)
        os.close(up)
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        found = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def open(self, address: str, *, drawn: bool = True) -> float:
        """Load a page, until it is drawn; the seconds that it took."""
        self._load("about:blank")  # else an address that differs in its # alone loads nothing
        start = time.perf_counter()
        self._load(address)
        if drawn:
            self.run(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
        return time.perf_counter() - start

    def _load(self, address: str) -> None:
        self.events.clear()
        self.ask("Page.navigate", url=address)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next())

    def size(self, width: int, height: int) -> None:
        """Make the window so many pixels wide and high."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def media(self, *, dark: bool = False, kind: str = "screen") -> None:
        """Show the page in dark colours, or as it is printed."""
        wish = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=kind, features=[wish])

    def scripts(self, on: bool) -> None:
        """Whether JavaScript of pages runs."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not on)

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"windowsVirtualKeyCode": {"Enter": 13, "Tab": 9, "Escape": 27}.get(key, 0)}
        for kind in ("keyDown", "keyUp"):
            given = text if kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **given, **code)

    def picture(self, file: Path) -> None:
        """What is seen, as PNG."""
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(data))

    def paper(self) -> bytes:
        """The page as PDF."""
        data: str = self.ask("Page.printToPDF")["data"]
        return base64.b64decode(data)

    def __enter__(self) -> Browser:
        """Use as a context."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """End the browser."""
        self._process.terminate()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()

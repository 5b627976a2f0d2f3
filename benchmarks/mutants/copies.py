"""A private copy of the tree, in which a mutant is made and tests are run."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attsvm._threads import SINGLE
from benchmarks.mutants.rooms import ROOT

PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")
FORKS = Path(__file__).with_name("forks.py")
SHOWN = ("-x", "--tb=no", "-p", "benchmarks.mutants.unshrunk")


def uncompiled(tests: Sequence[str]) -> dict[str, str]:
    """Return variables that make Python run the kernels, if the tests are those of the kernels.

    Otherwise a changed kernel would be compiled again with all its callers.
    """
    return {"NUMBA_DISABLE_JIT": "1"} if "tests/kernels" in tests else {}


class Copy:
    """A private copy of the tree: files that git does not ignore, and compiled kernels."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder = folder / "tree"
        self._forks: dict[tuple[tuple[str, str], ...], subprocess.Popen[str]] = {}
        asked = ["git", "ls-files", "-co", "--exclude-standard"]
        names = subprocess.run(asked, cwd=root, check=True, capture_output=True, text=True).stdout
        compiled = root.glob("attsvm/kernels/__pycache__/*.nb*")
        for name in [*names.splitlines(), *(str(p.relative_to(root)) for p in compiled)]:
            if (root / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.folder / name)

    def run(self, words: Sequence[str], seconds: float, **own: str) -> tuple[int, str]:
        """Run a Python module; return its exit code, -1 if time ran out, and its output."""
        shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        text = self.folder.parent / "output"
        text.write_bytes(b"")
        request = {"words": list(words), "seconds": seconds, "output": str(text)}
        forks = self._started(own)
        assert forks.stdin is not None
        assert forks.stdout is not None
        forks.stdin.write(json.dumps(request) + "\n")
        forks.stdin.flush()
        code = int(forks.stdout.readline())
        return code, text.read_text(errors="replace")

    def _environment(self, **own: str) -> dict[str, str]:
        path = os.pathsep.join(filter(None, (own.get("PYTHONPATH", ""), str(self.folder))))
        temporary = self.folder.parent / "temporary"
        temporary.mkdir(exist_ok=True)
        private = {**own, **SINGLE, "PYTHONPATH": path, "TMPDIR": str(temporary)}
        return {**os.environ, **private}

    def _started(self, own: Mapping[str, str]) -> subprocess.Popen[str]:
        """Return the process that forks for this environment; the first call starts it."""
        key = tuple(sorted(own.items()))
        if key not in self._forks:
            self._forks[key] = subprocess.Popen(
                [sys.executable, "-P", str(FORKS)],
                cwd=self.folder,
                env=self._environment(**own),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._forks[key]

    def close(self) -> None:
        """End the processes that fork."""
        for forks in self._forks.values():
            forks.communicate()
        self._forks.clear()

    def put(self, file: str, text: bytes) -> None:
        """Write a file, and remove its bytecode, which could seem current by its time."""
        path = self.folder / file
        path.write_bytes(text)
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            stale.unlink()

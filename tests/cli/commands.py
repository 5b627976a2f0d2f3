"""What the tests of the commands share."""

import json
import subprocess
import sys
from pathlib import Path

PACK = str(Path(__file__).parents[1] / "theory" / "toy_pack.py")
TOYS = ["--pack", PACK]


def in_a_process(*words, **rest):
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **rest)


def expect(folder, **changes):
    words = {"truth": "holds", "evidence": "numeric", "validity": "exercised", "reason": "true"}
    path = folder / "expect.json"
    path.write_text(json.dumps({"schema": 1, "claims": {"toy/true:literal": {**words, **changes}}}))
    return path

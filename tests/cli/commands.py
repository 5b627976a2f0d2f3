"""Helpers for the tests of commands: a process, and a file of expectations for toy claims."""

import functools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from attsvm.theory.gate.reviewed import review
from attsvm.theory.packs.packs import find_claims, load_packs

PACK = str(Path(__file__).parents[1] / "theory" / "toy_pack.py")
TOYS = ["--only-pack", PACK]
"""Options that load the toy claims alone: the claims of the sources take seconds to load."""


def in_a_process(*words, **rest):
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **rest)


@functools.cache
def reviewed():
    """The record of a review of toy/true."""
    packs = load_packs([], [PACK])
    (found,) = review(find_claims(packs, ["toy/true"])).values()
    return replace(found, examples=20).json()


def expect(folder, **changes):
    words = {"truth": "holds", "evidence": "numeric", "validity": "exercised", "reason": "true"}
    words["reviewed"] = reviewed()
    path = folder / "expect.json"
    path.write_text(json.dumps({"schema": 1, "claims": {"toy/true:literal": {**words, **changes}}}))
    return path

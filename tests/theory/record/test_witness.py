"""A stored counterexample is judged by its witness: nothing is found anew, and nobody trusts it."""

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from searching import drawn, few, nightly

from attsvm.errors import FileError
from attsvm.theory import load_packs
from attsvm.theory.packs.code_digests import Imports
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.record.counterexample import examine, read, replay
from attsvm.theory.run.asking import frozen

ROOT = Path(__file__).parents[3]
FILES = sorted(ROOT.glob("properties/*/counterexamples/*.json"))
COUNTED = "tf/generalised-svm:literal-3"
"""The reading that is refuted by a count of runs in floats, of which there is no certificate."""

REPLAY = """
import json
from pathlib import Path
import numpy as np
from attsvm.kernels import _Kernel
from attsvm.theory import load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.instance import codec
from attsvm.theory.record.counterexample import examine, read
from attsvm.theory.run.asking import frozen

def refuse(*given, **named):
    raise RuntimeError("a float finder was asked")

_Kernel.__call__ = refuse
for name in "solve inv pinv lstsq svd eig eigh eigvals eigvalsh cholesky".split():
    setattr(np.linalg, name, refuse)
packs, found = load_packs(), {}
claims = {c.id: c for c in find_claims(packs)}
for path in [file for pack in packs for file in pack.counterexamples]:
    stored = read(path)
    claim = claims[stored["claim"]]
    if stored["certificate"]["evidence"] == "numeric":
        continue
    case = frozen(codec.decode_exactly(stored["instance"], claim.instance_type))
    answer = examine(claim, claim.part(""), case, stored["witness"]).answer
    found[path.name] = [answer.refuted, answer.method, list(answer.enclosure)]
print(json.dumps(found))
"""
"""Replays all certified files where every search in floats raises."""

FOREIGN = {"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic"}


@pytest.fixture(scope="module")
def claims():
    return {c.id: c for c in find_claims(load_packs())}


def test_a_replay_asks_no_float_code_and_comes_to_the_stored_digits_on_another_machine():
    done = subprocess.run(
        [sys.executable, "-c", REPLAY],
        capture_output=True, text=True, cwd=ROOT, check=True, env={**os.environ, **FOREIGN},
    )  # fmt: skip
    stored = {file.name: read(file) for file in FILES}
    expected = {
        name: [True, document["certificate"]["method"], document["certificate"]["enclosure"]]
        for name, document in stored.items()
        if document["claim"] != COUNTED
    }
    assert len(expected) == len(FILES) - 1
    assert json.loads(done.stdout) == expected


def leaves(value, place=()):
    """The places in a witness that hold no list."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*place, key))
    else:
        yield place


def put(value, place, new):
    """A copy of a witness with another value at a place."""
    if not place:
        return new
    head, *rest = place
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[head] = put(value[head], rest, new)
    return changed


WRONG = (
    *(0, 1, 7, -1, 10**30, 1.5, True, None, "", "nan", "inf", "-inf", "1", "0x1p9999"),
    *("0x1.0p+0", "-0x1.0p+0", "0x1.8p-40", "0x1.0p+900", "0x0.0p+0", [], [0], {}, [[[[[0]]]]]),
)
"""What a place of a hostile witness may hold."""


def corrupted(witness):
    """Witnesses that are missing, cut, of another shape or of other numbers."""
    yield {}
    yield {name: [] for name in witness}
    yield {name: [None for _ in values] for name, values in witness.items()}
    for support in ([0, *range(2, 9)], *(list(range(size)) for size in (1, 2, 3, 4, 6))):
        yield {name: [support for _ in values] for name, values in witness.items()}
    for place in leaves(witness):
        for new in WRONG:
            yield put(witness, place, new)
        if len(place) > 2:
            yield put(witness, place[:-1], [])


def spread(witnesses, start=0):
    """Return evenly spaced witnesses from an offset on; at most 28 in nightly runs."""
    every = list(witnesses)
    step = -(-len(every) // few(28))
    return every[start % step :: step]


def test_a_corrupted_witness_is_an_error_or_is_proved_all_the_same(claims, tmp_path):
    packs, path, told, imports = load_packs(), tmp_path / "hostile.json", set(), Imports()
    for k, file in enumerate(FILES):
        stored = read(file)
        if not stored["witness"]:
            continue
        for witness in spread(corrupted(stored["witness"]), k):
            path.write_text(json.dumps({**stored, "witness": witness}))
            result = replay(path, packs, imports)
            told.add(result.result)
            if result.confirmed:
                slack = map(
                    Fraction, re.search(r"slack in \[(\S+), (\S+)\]", result.reason).groups()
                )
                assert overlap(slack, map(Fraction, stored["certificate"]["enclosure"]))
            else:
                assert "the witness in the file" in result.reason or "stays open" in result.reason
    assert {"CONFIRMED", "ERROR"} <= told


def overlap(one, other):
    (low, high), (least, most) = one, other
    return low <= most and least <= high


def satisfying(claim):
    """An instance that meets the hypotheses and is not refuted; None if none is drawn soon."""
    for case in (*claim.examples, *drawn(claim.data, 6)):
        examined = examine(claim, claim.part(""), frozen(case))
        if examined.answer is not None and examined.answer.refuted is False:
            return frozen(case)
    return None


def test_no_witness_refutes_what_is_true(claims):
    """Neither those of the claim's files nor corrupted ones of the instance itself.

    An eighth of the claims is taken, and all of them every night.
    """
    seen, stored = 0, {}
    for document in map(read, FILES):
        if document["witness"]:
            stored.setdefault(document["claim"], []).append(document["witness"])
    for name in list(stored)[:: 1 if nightly() else 8]:
        claim, witnesses = claims[name], stored[name]
        if (case := satisfying(claim)) is None:
            continue
        own = examine(claim, claim.part(""), case).witness
        for witness in [*witnesses, *spread(corrupted(own))]:
            try:
                found = examine(claim, claim.part(""), case, witness)
            except FileError:
                continue
            seen += 1
            assert not found.refuted, (claim.id, witness)
    assert seen >= 20

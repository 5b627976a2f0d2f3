"""`python -O` changes no verdict: it drops assert statements, and nothing here rests on one."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("attsvm", "examples", "properties", "symbolic")
    for path in (ROOT / folder).rglob("*.py")
)

PACK = """
from unittest import mock

import sympy as sp
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.theory import (
    Measured, Reading, Records, Slack, Statement, changed, ensure_equal, ensure_true
)
from symbolic.sim import lemma_3_12


def square(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - shift, 1e-9)


def ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


def made(name):
    return Statement(
        f"planted/{name}",
        source="planted",
        place="here",
        printed=name,
        variables=Records(float, st.integers(-1000, 1000).map(lambda k: k / 8)),
        conclusion=Measured(name, floats=square, balls=ball),
        cost=12,
        readings={
            "literal": Reading(
                "holds",
                proof=f"planted_pack:{name}",
                siblings={f"less {k}": changed(shift=k) for k in (100.0, 1000.0)},
            )
        },
    )


x = sp.Symbol("x", real=True)


def true() -> str:
    ensure_equal((x + 1) ** 2, x**2 + 2 * x + 1, "the square of a sum")
    return "true"


def false() -> str:
    ensure_equal((x + 1) ** 2, x**2 + 1, "the square of a sum")
    return "false"


def undecided() -> str:
    ensure_true(x + 1 > 0, "x exceeds -1")
    return "undecided"


def wrong() -> str:
    with mock.patch.object(lemma_3_12, "slope_kernel", lambda e: e / (1 + e)):
        return lemma_3_12.prove()


a, b, c, d = (made(name) for name in ("true", "false", "undecided", "wrong"))
"""
ASSERTING = """
from attsvm.theory import Hypothesis, Reading, Real, Statement, changed, ensure_true


class TestIt:
    def test_it(self):
        assert stated


def stated(id, expected, hypothesis, proof=None):
    return Statement(
        id, source="s", place="p", printed="p", variables={"x": Real()},
        hypotheses=(Hypothesis("x^2 <= 9", hypothesis),),
        conclusion=lambda m, v, c=1: m.at_most(c * m.abs(v.x), m.abs(v.x)),
        readings={"literal": Reading(
            expected, siblings={"2": changed(c=2)}, proof=proof, cost=90)},
    )


A = stated("mine/a", "proved", lambda m, v: m.at_most(v.x * v.x, 9), "asserting_proof:prove")
C = stated("mine/c", "holds", lambda m, v: m.at_most(v.x * v.x, 9))
"""
ASSERTING_PROOF = """
from attsvm.theory import ensure_true


def prove():
    assert True
    ensure_true(True, "a step")
    return "nothing"
"""


SAID = {
    "false": "the proof failed at step 1: the square of a sum;",
    "undecided": "the proof failed at step 1: x exceeds -1;",
    "wrong": "the proof failed at step 1: the code evaluates g, g' and g'' as derivatives;",
}


def rests_on_the_mode(source):
    """The lines that -O drops, or that ask whether it is there."""
    if not any(word in source for word in ("assert", "__debug__", "optimize")):
        return []
    names = [(n, getattr(n, "id", getattr(n, "attr", ""))) for n in ast.walk(ast.parse(source))]
    return sorted(
        node.lineno
        for node, name in names
        if isinstance(node, ast.Assert) or name in ("__debug__", "optimize")
    )


def test_no_assert_statement_is_left_where_something_is_decided():
    lines = {path: rests_on_the_mode(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: found for path, found in lines.items() if found} == {}
    assert len(FILES) > 200


def test_planted_lines_that_rest_on_the_mode_are_found():
    lines = ["if x:", "    assert x", "raise AssertionError", "__debug__ and x", "flags.optimize"]
    assert rests_on_the_mode("\n".join(lines)) == [2, 4, 5]


@pytest.fixture(scope="module")
def optimised(tmp_path_factory, site):
    """What `attsvm verify` says under -O, by claim."""
    folder = tmp_path_factory.mktemp("optimised")
    packs = {"planted_pack": PACK, "asserting": ASSERTING, "asserting_proof": ASSERTING_PROOF}
    for name, text in packs.items():
        (folder / f"{name}.py").write_text(text)
    only = ["--only-pack", "planted_pack", "--only-pack", "asserting"]
    path = os.pathsep.join(map(str, (folder, site, ROOT)))  # of ROOT it takes the proofs alone
    done = subprocess.run(
        [sys.executable, "-O", "-m", "attsvm", "verify", *only, "--json", "-"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["matched"] is False
    return {claim["id"]: claim for claim in document["claims"]}


def test_what_rests_on_assert_is_refused_though_python_drops_it(optimised):
    assert optimised["mine/a:literal"]["reason"].startswith(
        "mine/a:literal rests on a module with an assert statement, which python -O drops "
        "(got asserting_proof.py, line 6)"
    )
    assert "assert" not in optimised["mine/c:literal"]["reason"]


def test_false_proofs_are_errors_and_a_true_one_runs(optimised):
    """As they are without -O, which `tests/theory/verification/test_verify.py` shows."""
    found = {name: claim for name, claim in optimised.items() if name.startswith("planted/")}
    true = found.pop("planted/true:literal")
    assert (true["truth"], true["validity"], true["as_expected"]) == ("holds", "exercised", True)
    assert (true["proof"], true["steps"]) == ("true", ["the square of a sum"])
    assert found.keys() == {f"planted/{name}:literal" for name in SAID}
    for name, said in SAID.items():
        claim = found[f"planted/{name}:literal"]
        assert (claim["truth"], claim["validity"]) == ("undecided", "error")
        assert (claim["proof"], claim["as_expected"]) == (None, False)
        assert said in claim["reason"]

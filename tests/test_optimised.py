"""`python -O` changes no verdict: it drops assert statements, and nothing here rests on one."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attsvm.theory import load_packs
from attsvm.theory.check import execute_proof
from attsvm.theory.proof import recorded

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path
    for folder in ("attsvm", "examples", "properties", "symbolic")
    for path in (ROOT / folder).rglob("*.py")
)
PROVED = {c.proof: c for pack in load_packs() for c in pack.claims if c.proof}

PACK = """
from unittest import mock

import sympy as sp
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.theory import Slack, claim, ensure_equal, ensure_true, sibling
from symbolic.sim import lemma_3_12


def square(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - shift, 1e-9)


def ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


def made(name):
    return claim(
        f"planted/{name}:literal",
        source="planted",
        place="here",
        statement=name,
        data=st.integers(-1000, 1000).map(lambda k: k / 8),
        certify=ball,
        expected="proved",
        proof=f"planted_pack:{name}",
        siblings={f"less {k}": sibling(shift=k) for k in (100.0, 1000.0)},
    )(square)


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
    with mock.patch.object(lemma_3_12, "curvature_constant", lambda root: 1 / (5 * root(3))):
        return lemma_3_12.prove()


a, b, c, d = (made(name) for name in ("true", "false", "undecided", "wrong"))
"""


def python(*words, folder):
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
    )


def asserts(source):
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_assert_statement_is_left_where_something_is_decided(path):
    assert asserts(path.read_text(encoding="utf-8")) == []


def test_a_planted_assert_statement_is_found():
    assert asserts("def f(x):\n    if x:\n        assert x\n    raise AssertionError\n") == [3]
    assert len(FILES) > 200


SAID = {
    "false": "the proof failed at: the square of a sum;",
    "undecided": "the proof failed at: x exceeds -1;",
    "wrong": "the proof failed at: sup |g''| = 1/(6 sqrt 3);",
}


@pytest.mark.parametrize("mode", [[], ["-O"]], ids=["plain", "optimised"])
def test_false_proofs_are_errors_and_a_true_one_is_a_proof_in_either_mode(tmp_path, mode):
    (tmp_path / "planted_pack.py").write_text(PACK)
    command = [*mode, "-m", "attsvm.cli", "verify", "--pack", "planted_pack", "--json", "-"]
    done = python(*command, "planted/", folder=tmp_path)
    assert done.returncode == 1
    found = {claim["id"]: claim for claim in json.loads(done.stdout)["claims"]}
    true = found.pop("planted/true:literal")
    assert (true["truth"], true["validity"], true["as_expected"]) == ("proved", "exercised", True)
    assert (true["proof"], true["steps"]) == ("true", ["the square of a sum"])
    assert found.keys() == {f"planted/{name}:literal" for name in SAID}
    for name, said in SAID.items():
        claim = found[f"planted/{name}:literal"]
        assert (claim["truth"], claim["validity"]) == ("undecided", "error")
        assert (claim["proof"], claim["as_expected"]) == (None, False)
        assert said in claim["reason"]


EVERY = """
import json
from attsvm.theory import load_packs
from attsvm.theory.check import execute_proof
from attsvm.theory.proof import recorded
assert False, "this is not reached without -O"
found = {}
for claim in {c.proof: c for pack in load_packs() for c in pack.claims if c.proof}.values():
    with recorded() as steps:
        found[claim.proof] = execute_proof(claim), steps
print(json.dumps(found))
"""


def test_every_proof_takes_the_same_steps_in_either_mode(tmp_path):
    optimised = python("-O", "-c", EVERY, folder=tmp_path)
    assert optimised.stderr == ""
    plain = {}
    for name, claim in PROVED.items():
        with recorded() as steps:
            plain[name] = [execute_proof(claim), steps]
        assert steps, f"{name} takes no step that can fail"
    assert json.loads(optimised.stdout) == plain

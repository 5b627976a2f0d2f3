"""Structured variables lie in their domains exactly, and reach its degenerate members."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm import (
    PSD,
    Convex,
    Defined,
    Integer,
    Near,
    Orthogonal,
    Permutation,
    Real,
    Simplex,
    Sorted,
    Symmetric,
    Unit,
    ask,
    question,
)
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.balls import Doubts
from attsvm.theory.declaration.batches import filled, floats, instance_at
from attsvm.theory.declaration.judge import decided
from attsvm.theory.declaration.structured import Bent
from attsvm.theory.declaration.variables import shown
from attsvm.theory.instance.letters import letters_of
from attsvm.theory.search.hunt import hunt

DOMAINS = {
    "Symmetric": (Symmetric, lambda m, S, n: m.equal(S, S.T)),
    "PSD": (PSD, lambda m, A, n: m.all_of(m.psd(A), m.equal(A, A.T))),
    "Orthogonal": (Orthogonal, lambda m, Q, n: m.equal(Q @ Q.T, m.identity(n))),
    "Permutation": (
        Permutation,
        lambda m, P, n: m.all_of(
            m.equal(P @ P.T, m.identity(n)), m.equal(m.min(P), 0 if n > 1 else 1)
        ),
    ),
    "Unit": (Unit, lambda m, x, n: m.equal(x @ x, m.exact(1))),
    "Simplex": (
        Simplex,
        lambda m, p, n: m.all_of(m.equal(m.sum(p), m.exact(1)), m.at_least(m.min(p), m.exact(0))),
    ),
    "Sorted": (
        Sorted,
        lambda m, x, n: m.all_of(*(m.at_most(x[k], x[k + 1]) for k in range(n - 1))),
    ),
}


def asked(kind):
    """A question about one value x, of sizes up to 4."""
    return question(lambda m, v: m.at_most(0, m.sum(v.x)), x=kind("n"), n=Integer(1, 4))


@pytest.mark.parametrize("name", DOMAINS)
@given(st.data())
def test_a_value_lies_in_its_domain_exactly(name, data):
    kind, inside = DOMAINS[name]
    formula = asked(kind).claim.formula
    case = data.draw(asked(kind).claim.data)
    x = formula.exact(case).x
    assert decided(inside(BALLS, x, len(x))) is True


@pytest.mark.parametrize("name", DOMAINS)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_floats_and_rationals_make_the_same_value(name, seed, n):
    formula = asked(DOMAINS[name][0]).claim.formula
    raw = filled(formula, np.random.default_rng(seed), {"n": n}, 3)
    with np.errstate(all="ignore"):
        x = floats(formula, raw, {"n": n}).x
    for lane in range(3):
        known = formula.exact(instance_at(formula, raw, lane)).x
        exact = [float(a.p) / float(a.q) for a in known.ravel()]
        size = max(1.0, *map(abs, exact))
        near = [float(np.broadcast_to(a.value, 3)[lane]) for a in x.ravel()]
        assert near == pytest.approx(exact, abs=1e-9 * size)


def test_each_evaluation_counts_the_doubts_of_a_definition():
    y = Defined(lambda m, v: m.sqrt(m.exp(v.x) - m.exp(v.x)))
    asks = question(lambda m, v: m.at_most(0, v.y), x=Real(), y=y)
    case, before = asks.claim.formula.build(x=1), Doubts.count
    for k in (1, 2):
        asks.claim.formula.exact(case)
        assert Doubts.count == before + k


FALSE = {
    "a singular matrix": (
        lambda m, v: m.pd(v.A), {"A": PSD("n")}, {"n": "1", "A": "[[0]]"},
    ),
    "a reflection": (
        lambda m, v: m.equal(m.det(v.Q), m.exact(1)),
        {"Q": Orthogonal("n")},
        {"n": "1", "Q": "[[-1]]"},
    ),
    "a cycle of three": (
        lambda m, v: m.equal(v.P @ v.P, m.identity(v.n)),
        {"P": Permutation("n")},
        {"n": "3", "P": "[[0, 0, 1], [1, 0, 0], [0, 1, 0]]"},
    ),
    "a corner of the simplex": (
        lambda m, v: m.above(m.min(v.p), m.exact(0)),
        {"p": Simplex("n")},
        {"n": "2", "p": "[0, 1]"},
    ),
    "a tie": (
        lambda m, v: m.below(m.min(v.x), m.max(v.x)), {"x": Sorted("n")}, {"n": "1", "x": "[0]"},
    ),
    "two corners": (
        lambda m, v: m.at_most(m.norm(v.p - v.q), m.exact(1)),
        {"p": Simplex("n"), "q": Near("p")},
        {"n": "2", "p": "[1, 0]", "q": "[0, 1]"},
    ),
    "a kink": (
        lambda m, v: m.equal(v.f(v.x) + v.f(-v.x), 2 * v.f(0 * v.x)),
        {"f": Convex(), "x": Real()},
        None,
    ),
}  # fmt: skip


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", FALSE)
def test_degenerate_values_refute_and_are_shown_by_their_own_names(name):
    relation, variables, instance = FALSE[name]
    answer = ask(relation, **variables, seconds=120.0)
    assert answer.refuted
    assert answer.instance.keys() == (instance or {"f": 0, "x": 0}).keys()
    assert instance is None or answer.instance == instance


TRUE = {
    "trace of a product": (
        lambda m, v: m.at_most(m.trace(v.A @ v.B), m.trace(v.A) * m.trace(v.B)),
        {"A": PSD("n"), "B": PSD("n")},
    ),
    "rearrangement": (
        lambda m, v: m.at_most(m.dot(v.x, v.P @ v.y), m.dot(v.x, v.y)),
        {"x": Sorted("n"), "y": Sorted("n"), "P": Permutation("n")},
    ),
    "Jensen": (
        lambda m, v: m.at_most(v.f(m.dot(v.p, v.x)), m.dot(v.p, v.f(v.x))),
        {"f": Convex(), "p": Simplex("n"), "x": Sorted("n")},
    ),
    "Gibbs": (
        lambda m, v: m.at_most(0, m.kl(v.p, (v.p + v.q) / 2)),
        {"p": Simplex("n"), "q": Simplex("n")},
    ),
    "an orthogonal matrix keeps norms": (
        lambda m, v: m.equal(m.norm(v.Q @ v.u), m.exact(1)), {"Q": Orthogonal("n"), "u": Unit("n")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_a_true_question_is_not_refuted(name):
    relation, variables = TRUE[name]
    claim = replace(question(relation, **variables).claim, cost=4)
    account = hunt(claim, rounds=1, searchers=["drawn", "screen"])
    assert (account.smallest, account.error) == (None, None)
    assert account.examples > 10


def test_a_sentence_names_the_domains():
    one = question(lambda m, v: m.psd(v.A - v.B), A=PSD("n"), B=PSD("n"), Q=Orthogonal("k"))
    assert one.text.startswith(
        "Let each of A and B be a positive semidefinite n x n matrix, and Q an orthogonal"
    )
    assert [*shown(one.claim.formula.variables)] == ["n", "k", "A", "B", "Q"]


def test_a_convex_function_is_shown_as_python_that_has_its_values():
    numbers = [fmpq(1, 2), fmpq(-1), fmpq(3), fmpq(-2, 3), fmpq(2)]
    f = Bent(BALLS, numbers)
    shown_ = eval(str(f))
    for t in (fmpq(0), fmpq(-5, 3), fmpq(2)):
        assert shown_(float(t.p) / float(t.q)) == pytest.approx(float(f(t).p) / float(f(t).q))


def test_a_value_of_no_question_is_near_nothing():
    with pytest.raises(ClaimError):
        question(lambda m, v: m.at_most(0, m.sum(v.q)), q=Near("p"))


def test_letters_show_every_value_and_no_free_number():
    one = asked(Simplex)
    case = one.claim.formula.build(x_of=[1.0, 0.0, -3.0])
    assert letters_of(one.claim.formula, case) == {"n": "3", "x": "[1/4, 0, 3/4]"}


LEMMA = """from attsvm import Integer, Simplex
from attsvm.theory import Reading, Statement, changed
LEMMA = Statement(
    "mine/lemma", source="Mine", place="Lemma", printed="A probability is 1.", cost=12,
    variables={"n": Integer(1, 4), "p": Simplex("n")},
    conclusion=lambda m, v, c=1: m.at_least(m.max(v.p), c),
    readings={"literal": Reading("holds", siblings={"2": changed(c=2)})},
)
"""


def test_a_counterexample_shows_the_value_that_formulas_get(attsvm, tmp_path):
    (tmp_path / "lemma.py").write_text(LEMMA)
    own = ["--only-pack", "lemma.py"]
    out = attsvm("verify", *own)[1]
    assert "\n  # p = [1/2, 1/2]\n" in out
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    assert "holds -> refuted by n = 2, p = [1/2, 1/2], " in attsvm("gate", *own)[1]
    assert attsvm("report", *own, "--out", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert '<p class="values"><code>n = 2, p = [1/2, 1/2]</code></p>' in page

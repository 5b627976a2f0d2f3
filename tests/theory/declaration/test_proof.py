"""The calls by which proofs take their steps: each passes what is decided and rejects the rest."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from attsvm.errors import AttsvmError, ProofError, present
from attsvm.theory import (
    Hypothesis,
    Lemma,
    Reading,
    Real,
    Statement,
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_nonzero,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.declaration import proof
from attsvm.theory.declaration.proof import executed, grants, recorded, suppose, supposed_number
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.sampling import PROFILES
from attsvm.theory.verification.check import check_part, check_shard

x = sp.Symbol("x", real=True)
u = sp.Symbol("u", positive=True)
SQUARE = (1 + x) ** 2 - 1 - 2 * x - x**2
FLOATS = [0.0, 0.5, np.float64(0), 1j, x - 0.5 * x, sp.Float(0), x ** sp.Float(2), [0, 0.0]]
INFINITE = [sp.nan, sp.oo, -sp.oo, sp.zoo, x + sp.nan, sp.AccumBounds(1, 2)]
EMPTY = [[], (), iter(()), np.array([]), [[], 0], [0, ()], sp.zeros(0, 0)]
NONE = [None, True, False, sp.true, "0", "x - x", {0: 0}, object(), x > 0, sp.ZeroMatrix(2, 2)]
UNSOUND = [*FLOATS, *INFINITE, *EMPTY, *NONE]


@pytest.mark.parametrize(
    "found",
    [
        0,
        Fraction(0),
        np.int64(0),
        SQUARE,
        [0, SQUARE],
        ((0, 0), SQUARE),
        iter([SQUARE]),
        np.array([[SQUARE, 0]], dtype=object),
        sp.Matrix([SQUARE, 0]),
    ],
)
def test_zeros_are_zero(found):
    with recorded() as steps:
        ensure_zero(found, "it is 0")
    assert steps == ["it is 0"]


@pytest.mark.parametrize("found", [1, x, SQUARE + 1, [0, x], ((0, 0), 1), sp.sqrt(x**2) - x])
def test_what_is_not_zero_is_not(found):
    with pytest.raises(ProofError, match="the proof failed at: it is 0;"):
        ensure_zero(found, "it is 0")


@pytest.mark.parametrize(
    "ensure", [ensure_zero, ensure_nonzero, ensure_positive, ensure_nonnegative, ensure_equal]
)
def test_floats_no_numbers_and_nothing_at_all_prove_nothing(ensure):
    """Not even that they equal themselves."""
    for found in UNSOUND:
        sides = (found, found) if ensure is ensure_equal else (found,)
        said = "it is taken"
        with recorded() as steps:
            try:
                ensure(*sides, "a step")
            except ProofError as error:
                said = str(error)
        assert "failed at step 1: a step;" in said, repr(found)
        assert steps == []


def test_the_step_that_fails_is_told_by_its_number():
    with recorded():
        for value in (0, SQUARE):
            ensure_zero(value, "it is 0")
        with pytest.raises(ProofError, match="the proof failed at step 3: it is 0;"):
            ensure_zero(x, "it is 0")


def test_a_float_is_told_how_to_be_written():
    with pytest.raises(ProofError, match=r"a float \(got 0\.5\)\. .*sympy\.Rational\(1, 2\)"):
        ensure_zero(sp.Float(0.5, 1), "a step")


def test_a_normal_form_that_leaves_a_float_or_no_number_is_refused():
    for spoilt in (0.0, sp.nan, None):
        with pytest.raises(ProofError):
            ensure_zero(SQUARE, "a step", normal=lambda _, spoilt=spoilt: spoilt)
        with pytest.raises(ProofError):
            ensure_nonzero(x, "a step", normal=lambda _, spoilt=spoilt: spoilt)


def test_the_normal_form_decides_what_expanding_does_not():
    gap = 1 / u - 1 / (1 + u) - 1 / (u * (1 + u))
    with pytest.raises(ProofError):
        ensure_zero(gap, "a step")
    ensure_zero(gap, "a step", normal=sp.cancel)
    with pytest.raises(ProofError):
        ensure_nonzero(gap, "a step", normal=sp.cancel)


def test_equal_sides_are_compared_entry_by_entry():
    ensure_equal((1 + x) ** 2, 1 + 2 * x + x**2, "a step")
    ensure_equal((1, [x]), [1, x], "a step")
    for left, right in ((x, x + 1), ((1, x), (x, 1)), ((0, 0), 0), ((0,), (0, 0)), ((), 0)):
        with pytest.raises(ProofError):
            ensure_equal(left, right, "a step")
        with pytest.raises(ProofError):
            ensure_equal(right, left, "a step")


def test_false_neighbours_are_told_from_what_is_true():
    ensure_nonzero([1, x], "a step")
    ensure_nonzero([0, x], "a step", some=True)
    for found, some in ((SQUARE, False), ([0, x], False), ([0, SQUARE], True)):
        with pytest.raises(ProofError, match="should not be 0"):
            ensure_nonzero(found, "a step", some=some)


def test_positive_is_what_sympy_knows_to_be():
    ensure_positive([1, u, u**2 + x**2, sp.sqrt(2) - 1], "a step")
    for found in (0, -u, x, x**2, u - 1, [u, x]):
        with pytest.raises(ProofError, match="not known to be positive"):
            ensure_positive(found, "a step")


def test_nonnegative_is_what_sympy_knows_to_be():
    ensure_nonnegative([0, u, x**2, 1 - 1], "a step")
    for found in (-u, x, x**2 - 1, [u, -1]):
        with pytest.raises(ProofError, match="not known to be nonnegative"):
            ensure_nonnegative(found, "a step")


LEMMA = Lemma("a lemma", "A book, section 1", ("it is closed", "it is convex"), "it is near")
BASE = Lemma("its base", "A book, section 0", (), "it is closed")


def closed(m, v):
    return m.at_most(v.x * v.x, 1)


def same(m, v):
    return m.at_most(v.x * v.x, 1)


HYPOTHESIS = Hypothesis("a closed ball", closed)


def square(m, v):
    return m.at_most(-v.x * v.x, 0)


def on_ball(hypothesis=HYPOTHESIS):
    """A statement on a ball, whose proof supposes `HYPOTHESIS`."""
    variables = {"x": Real()}
    reading = Reading("proved", proof=f"{__name__}:prove_on_ball")
    return Statement(
        "toys/ball",
        source="Toys",
        place="A toy",
        printed="-x^2 <= 0 on a ball",
        variables=variables,
        hypotheses=(hypothesis,),
        conclusion=square,
        readings={"literal": reading},
    ).claim("literal")


def prove_on_ball():
    ensure_nonnegative(x**2, "it is a ball")
    cite(LEMMA, met={"it is convex": "it is a ball", "it is closed": HYPOTHESIS})
    return "for every x"


def test_a_reading_has_the_hypothesis_that_its_proof_supposes():
    stronger = Hypothesis("a ball of radius 1/2", same, implies=(HYPOTHESIS,))
    alike = Hypothesis("a closed ball", closed)
    lower = Hypothesis("a half-open ball", closed)
    for claim, said in (
        (on_ball(), None),
        (on_ball(stronger), None),
        (on_ball(lower), "supposes a fact that the reading does not have: a closed ball"),
        (on_ball(alike), "supposes another object with the same name (got a closed ball)"),
    ):
        outcome = check_shard(claim, claim.part(""), PROFILES["quick"].scaled(200), 0, 0)
        assert (outcome.error is None) == (outcome.proof is not None) == (said is None)
        assert said is None or said in outcome.error


def test_what_is_supposed_stands_in_a_reading_by_identity():
    formula = on_ball().formula
    for by in (HYPOTHESIS, square, formula.variables["x"]):
        assert grants(formula, Supposed("it", (same, by)))
    for by in (closed, "a closed ball", "square", Real(), Hypothesis("a closed ball", closed)):
        assert not grants(formula, Supposed("it", (by,)))


def test_a_reading_has_what_its_hypotheses_imply():
    fact, other = Supposed("a fact"), Supposed("a fact")
    weakest = Hypothesis("weakest", same, implies=(fact,))
    weaker = Hypothesis("weaker", same, implies=(weakest,))
    formula = on_ball(Hypothesis("strong", closed, implies=(weaker,))).formula
    assert grants(formula, weaker)
    assert grants(formula, weakest)
    assert grants(formula, fact)
    assert not grants(on_ball(weakest).formula, weaker)
    assert not grants(on_ball(weakest).formula, Supposed("another", (other,)))
    assert not grants(on_ball(HYPOTHESIS).formula, fact)


def test_a_number_has_the_sign_that_is_supposed_of_it(monkeypatch):
    with recorded() as steps:
        shown, found = (supposed_number(by, "left", positive=True) for by in (None, HYPOTHESIS))
        ensure_positive([shown, found], "both are above 0")
        assert steps.supposed == steps.signs == [HYPOTHESIS]
        monkeypatch.setattr(proof, "_sign_of", lambda what, sign: {"real": True})
        with pytest.raises(ProofError):
            ensure_positive(supposed_number(HYPOTHESIS, "left", positive=True), "it is above 0")


def test_the_steps_of_a_shared_proof_tell_of_signs_to_all_that_share_it():
    def shared():
        supposed_number(HYPOTHESIS, "left", positive=True)
        ensure_zero(0, "a step")

    for _ in range(2):
        with recorded() as steps:
            suppose(HYPOTHESIS)
            executed(shared)
        assert (steps.supposed, steps.signs) == ([HYPOTHESIS] * 2, [HYPOTHESIS])


def test_a_constant_that_is_supposed_stands_there_under_its_name():
    def of(m, v, loss="logistic", other="hinge"):
        return m.at_most(v.x, 0)

    formula = replace(on_ball().formula, conclusion=of)
    assert grants(formula, Supposed("it", (("loss", "logistic"),)))
    for pair in (("loss", "hinge"), ("other", "logistic"), ("another", "logistic")):
        assert not grants(formula, Supposed("it", (pair,)))
    formula = replace(formula, constants={"loss": "log", "other": "logistic"})
    assert not grants(formula, Supposed("it", (("loss", "logistic"),)))


def test_a_lemma_is_cited_once_its_hypotheses_are_met():
    with recorded() as steps:
        ensure_zero(0, "it is a ball")
        cite(BASE, of="the ball")
        cite(LEMMA, met={"it is convex": "it is a ball", "it is closed": "the ball"})
        cite(LEMMA, met={"it is convex": "it is a ball", "it is closed": HYPOTHESIS})
    assert steps[1] == "the ball: cited, its base (A book, section 0): it is closed"
    assert steps[2].endswith("it is closed: the ball")
    assert steps[3] == (
        "cited, a lemma (A book, section 1): it is near; it is convex: it is a ball; "
        "it is closed: supposed, a closed ball"
    )
    assert steps.supposed == [HYPOTHESIS]


@pytest.mark.parametrize(
    ("met", "why"),
    [
        ({"it is closed": "a step"}, "not meet exactly the hypotheses"),
        ({"it is closed": HYPOTHESIS}, "not meet exactly the hypotheses"),
        ({"it is open": "a step", "it is convex": "a step"}, "not meet exactly the hypotheses"),
        ({"it is convex": "a step", "it is closed": "a closed ball"}, "no step has passed"),
        ({"it is convex": "another step", "it is closed": HYPOTHESIS}, "no step has passed"),
        ({"it is convex": "its base", "it is closed": HYPOTHESIS}, "no step has passed"),
    ],
)
def test_a_lemma_whose_hypotheses_are_not_met_proves_nothing(met, why):
    with recorded() as steps:
        ensure_zero(0, "a step")
        ensure_zero(0, "cited, its base")
        with pytest.raises(ProofError, match=why):
            cite(LEMMA, met=met)
    assert steps == ["a step", "cited, its base"]


def test_a_lemma_meets_hypotheses_by_what_it_is_cited_of_alone():
    with recorded() as steps:
        cite(BASE)
        cite(BASE, of="a ball has it")
        for by in (BASE, steps[0], "its base", "a cone has it", "a ball", ""):
            with pytest.raises(ProofError, match="no step has passed"):
                cite(LEMMA, met={"it is convex": HYPOTHESIS, "it is closed": by})
        cite(LEMMA, met={"it is convex": HYPOTHESIS, "it is closed": "a ball has it"})
    assert steps[1] == "a ball has it: cited, its base (A book, section 0): it is closed"


BALL = {"it is convex": "it is a ball", "it is closed": "it is a ball"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda name: ensure_zero(SQUARE, name), lambda name: ensure_zero(0, name)),
        (lambda name: ensure_equal(x, x, name), lambda name: ensure_equal(u, u, name)),
        (lambda name: ensure_positive(u, name), lambda name: ensure_positive(1, name)),
        (lambda name: ensure_nonnegative(u, name), lambda name: ensure_positive(u, name)),
        (lambda name: ensure_nonzero(1, name), lambda name: ensure_nonzero([1, 2], name)),
        (
            lambda name: ensure_true(True, name, about="a ball"),
            lambda name: ensure_true(True, name, about="a cone"),
        ),
        (lambda name: cite(BASE, of=name), lambda name: ensure_nonnegative(u, name)),
        (lambda name: cite(BASE, of=name), lambda name: cite(LEMMA, met=BALL, of=name)),
        (
            lambda name: cite(LEMMA, met=BALL, of=name),
            lambda name: cite(LEMMA, met={**BALL, "it is closed": HYPOTHESIS}, of=name),
        ),
    ],
)
def test_a_name_under_which_two_things_have_passed_meets_nothing(one, other):
    for steps, refused in (([one], False), ([one, one], False), ([one, other], True)):
        with recorded():
            ensure_zero(0, "it is a ball")
            for step in steps:
                step("it is so")
            if refused:
                with pytest.raises(ProofError, match="several facts have passed under the name"):
                    cite(LEMMA, met={**BALL, "it is closed": "it is so"})
            else:
                cite(LEMMA, met={**BALL, "it is closed": "it is so"})


def test_what_two_proofs_have_passed_under_one_name_is_told_apart():
    with recorded():
        ensure_zero(0, "it is a ball")
        for value in (1, 2):
            executed(lambda value=value: ensure_positive(value, "it is so"))
        with pytest.raises(ProofError, match="several facts"):
            cite(LEMMA, met={**BALL, "it is closed": "it is so"})


def test_steps_that_meet_a_hypothesis_have_to_be_recorded():
    with pytest.raises(ProofError, match="Run the proof inside `recorded"):
        cite(LEMMA, met={"it is convex": "a step", "it is closed": HYPOTHESIS})


def test_a_condition_is_true_itself():
    ensure_true(True, "a step")
    ensure_true([sp.Integer(3) > 2, 2 > 1], "a step")
    open_ones = [x > 0, sp.Eq(x, 1), sp.nan, None, 1, "yes", x, [], [[]], [True, x > 0], np.True_]
    for found in (False, sp.false, [True, False], {True: True}, *open_ones):
        with pytest.raises(ProofError, match="the proof failed at: a step;"):
            ensure_true(found, "a step")


def test_the_outcome_of_a_claim_names_the_steps_that_passed():
    (claim,) = find_claims(load_packs(), ["tf/theorem-2:sharp"])
    few = PROFILES["quick"].scaled(200)
    outcome = check_part(claim, claim.part(""), few, 0)
    assert outcome.error is None
    assert outcome.steps[0].startswith("a chain of ")
    assert check_shard(claim, claim.part(""), few, 1, 0).steps == []


def test_a_proof_that_passed_runs_once_and_its_steps_are_recorded_each_time():
    runs = []

    def prove():
        runs.append(1)
        ensure_zero(0, "a step")
        if len(runs) == 1:
            ensure_zero(1, "another")
        return "proved"

    for k, taken in enumerate([["a step"], ["a step"], ["a step"]]):
        with recorded() as steps:
            if k == 0:
                with pytest.raises(ProofError, match="the proof failed at step 2: another"):
                    executed(prove)
            else:
                assert executed(prove) == "proved"
        assert steps == taken
    assert len(runs) == 2


def test_what_is_there_is_handed_on_and_none_is_named():
    assert present(0, "the number") == 0
    with pytest.raises(AttsvmError, match=re.escape("the labels y cannot be None here.")):
        present(None, "the labels y")

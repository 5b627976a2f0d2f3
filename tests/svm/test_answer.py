"""What `solve` hands out is what it certifies: the document, its figures in fractions, its page."""

import json
import math
import re
import sys
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

import attsvm.exact.svm as exact_svm
import attsvm.svm.answer as answers
import attsvm.svm.frobenius as frobenius
import attsvm.svm.handed as handed
from attsvm import AttentionData, solve
from attsvm._words import rising
from attsvm.errors import DataError, SolverError, UsageError
from attsvm.exact.numbers import rational
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import decide
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm, att_svm_programme, joint_svm, p_svm, v_svm
from attsvm.svm.answer import LARGEST_EXACT
from attsvm.svm.frobenius import grade, solve_programme
from attsvm.svm.programme import v_svm_programme
from attsvm.tokens import optimal_tokens
from benchmarks.hard_margins import KINDS, hard_data
from properties._support.published_data import gaussian_protocol, joint_inputs, one_input
from tests.svm.conditions import EPS, exact_margins, exact_sum, exactly, fractions_of
from tests.svm.problems import programmes, two_tokens


def missed(answer, W=None):
    """How far the least margin of W, or of the answer's matrix, falls short of 1."""
    return 1 - min(exact_margins(answer.programme, answer.W if W is None else W))


def square(W):
    return sum(x * x for row in W for x in row)


def is_the_solution(programme, document):
    """Whether `exact_W` and `exact_duals` meet every condition of optimality exactly."""
    W = fractions_of(document["exact_W"])
    duals = fractions_of(document["certificate"]["exact_duals"])
    w = [duals[i][t] for i, t in zip(programme.input, programme.token, strict=True)]
    return exact_sum(programme, w) == W and all(
        x >= 0 and m >= 1 and (x == 0 or m == 1)
        for x, m in zip(w, exact_margins(programme, W), strict=True)
    )


def document_of(answer):
    """The JSON document, as it is read again."""
    return json.loads(json.dumps(answer.json(), allow_nan=False))


def attempt(data, **options):
    """The programme and the document of `solve`; rejected where there is no answer."""
    try:
        answer = solve(data, **options)
    except (DataError, SolverError):
        reject()
    return answer.programme, document_of(answer)


hard = st.builds(
    hard_data,
    st.sampled_from([kind for kind in KINDS if kind != "many"]),
    st.integers(0, 10**6),
    st.floats(3.0, 15.0).map(lambda k: 10.0**-k),
    st.sampled_from([5.0, 20.0, 60.0, 150.0]),
)


NEARLY = hard_data("queries", 0, 1e-12, shape=(4, 4, 3))
"""Data whose nearest floats miss margins by more than 1e-9."""


@given(hard)
@example(NEARLY)
def test_no_printed_matrix_misses_its_margins_by_more_than_is_stated(data):
    programme, document = attempt(data)
    assume(document["status"] != "unseparable")
    certificate = document["certificate"]
    assert certificate["kind"] == "exact"
    short = 1 - min(exact_margins(programme, document["W"]))
    stated = certificate["primal_residual"]
    assert short <= Fraction(stated)
    assert Fraction(stated) <= max(short, 0) * (1 + Fraction(1, 10**12))
    if document["status"] == "solved":
        assert stated <= 1e-9
        assert document["gap"] <= 1e-6
        assert document["exact_W"] is None
        low, _ = document["bracket"]
        # the dual value is the square of the least norm, which the bracket holds
        assert (
            square(fractions_of(document["W"])) * (1 - Fraction(document["gap"]))
            <= Fraction(document["bracket"][1]) ** 2
        )
        assert document["value"] >= low * (1 - 2e-9)
    else:
        assert document["status"] == "solved in rationals"
        assert stated > 1e-9 or document["gap"] > 1e-6
        assert is_the_solution(programme, document)


def test_rationals_alone_solve_where_no_float_matrix_near_the_solution_does():
    answer = solve(NEARLY)
    programme, document = answer.programme, document_of(answer)
    assert document["status"] == answer.status == "solved in rationals"
    assert answer.solved
    assert is_the_solution(programme, document)
    assert [[str(x) for x in row] for row in answer.exact.W] == document["exact_W"]
    nearest = [[float(x) for x in row] for row in fractions_of(document["exact_W"])]
    assert document["W"] == nearest == answer.W.tolist()
    assert missed(answer) > Fraction(1, 10**9)
    assert answer.reached.tolist() == [float(m) for m in exact_margins(programme, nearest)]
    exact = exact_margins(programme, document["exact_W"])
    places = list(zip(programme.input, programme.token, strict=True))
    assert [m == 1 for m in exact] == [t in document["support"][i] for i, t in places]
    page = str(answer)
    assert "certified" not in page
    assert "solved in rationals, not in floats: W, the float matrix nearest to it, misses" in page
    assert f"misses a margin by {rising(answer.primal_residual)}" in page
    assert document["certificate"]["statement"] in page
    assert "`exact_W` of --json" in page
    assert "whose margin is 1 in the exact solution" in page


def test_a_slightly_longer_matrix_may_meet_the_margins_and_its_gap_is_stated(monkeypatch):
    data = hard_data("queries", 5, 1e-6, shape=(3, 3, 3))
    plain = solve(data)
    assert plain.status == "solved"
    assert plain.primal_residual > 0.0
    monkeypatch.setattr(handed, "TOLERANCE", 0.3 * plain.primal_residual)
    longer = solve(data)
    assert longer.status == "solved"
    assert missed(longer) <= Fraction(longer.primal_residual) <= Fraction(handed.TOLERANCE)
    assert plain.gap < longer.gap <= 16 * plain.primal_residual
    _, high = longer.bracket
    W = fractions_of(longer.W.tolist())
    assert square(W) * (1 - Fraction(longer.gap)) <= Fraction(high) ** 2


def test_margins_of_large_programmes_are_rounded_down_from_their_error(monkeypatch):
    answer, noise = solve(one_input()).float_answer, 2.0**-60
    entries = answer.programme.D.size + answer.programme.Z.size
    monkeypatch.setattr(handed, "margins_about", lambda p, *_: (np.ones(len(p.D)), noise))
    monkeypatch.setattr(handed, "LARGEST_EVALUATED", entries - 1)
    found = handed.evaluated(answer)
    assert noise <= Fraction(found.primal_residual) <= 2.0**-52
    monkeypatch.setattr(handed, "margins_about", None)
    monkeypatch.setattr(handed, "LARGEST_EVALUATED", entries)
    handed.evaluated(answer)  # these are not large, and rationals are asked


@pytest.mark.parametrize(
    ("figures", "status"),
    [
        ([(1e-9, 1e-9)], "solved"),
        ([(0.0, 2e-9), (0.0, 2e-6), (0.0, 2e-6), (0.0, 2e-6)], "solved in rationals"),
        ([(1e-6, 0.0), (2e-9, 0.0), (0.0, 2e-6), (1e-9, 1e-6)], "solved"),
        ([(2e-9, 0.0), (1e-9, 1e-6)], "solved"),
        ([(2e-6, 0.0)], "solved in rationals"),
    ],
)
def test_the_first_matrix_is_handed_out_whose_residual_and_gap_are_small(
    monkeypatch, figures, status
):
    """Of the nearest floats and those longer by 1, 2 and 4 times what these miss, no more."""
    answer, tried = solve(one_input()).float_answer, []

    def scripted(programme, rows, exact, factor):
        residual, gap = figures[len(tried)]
        tried.append(factor)
        return replace(answer, status="solved", primal_residual=residual, gap=gap)

    monkeypatch.setattr(handed, "in_floats", scripted)
    found = handed.handed_out(answer.programme, decide(answer.programme))
    missed = [0, *(times * rational(figures[0][0]) for times in (1, 2, 4))]
    assert tried == [1 + away for away in missed[: len(figures)]]
    assert found.status == status
    best = figures[-1] if status == "solved" else figures[0]
    assert (found.primal_residual, found.gap) == best


def test_the_farkas_residual_is_that_of_the_printed_weights():
    data = AttentionData.of(
        [[[1.0], [0.0]], [[0.0], [1.0]]], [[3.0], [7.0]], scores=[[1, 0], [1, 0]]
    )
    document = solve(data).json()
    first, second = (Fraction(row[1]) for row in document["certificate"]["duals"])
    away, total = abs(3 * first - 7 * second), 3 * first + 7 * second
    assert away > 0
    assert away / total <= Fraction(document["certificate"]["dual_residual"])
    assert document["certificate"]["dual_residual"] <= float(away / total) * (1 + 1e-12)


SLOW = hard_data("queries", 2, 1e-6, shape=(43, 6, 22))


def test_the_time_given_is_kept_where_rationals_take_long():
    """Whether an answer or a refusal comes depends on the machine; that one comes does not."""
    start = time.process_time()
    try:
        said = str(solve(SLOW, seconds=0.3).programme)
    except SolverError as error:
        said = str(error)
    assert time.process_time() - start <= 10.0
    assert said == str(att_svm_programme(SLOW)) or "(got 0.3 s). Give more seconds" in said


def test_nearly_equal_queries_of_many_inputs_are_certified_in_the_usual_time():
    answer = solve(SLOW)
    assert answer.exact is not None
    assert missed(answer) <= Fraction(answer.primal_residual)


def test_what_was_not_certified_in_time_says_so_and_has_honest_figures():
    data = hard_data("thin", 7, 1e-3, shape=(3, 4, 5))
    whole, cut = solve(data, seconds=None), solve(data, seconds=1e-9)
    assert whole.kind == "exact"
    assert cut.kind == "float"
    assert cut.exact is None
    assert cut.status == "solved"
    assert "solved, not certified in 1e-09 s" in str(cut)
    assert cut.json()["certificate"]["statement"].startswith("not certified in 1e-09 s")
    assert missed(cut) <= Fraction(cut.primal_residual) <= Fraction(1, 10**9)
    low, high = cut.bracket
    assert low <= whole.bracket[1]
    assert high >= whole.bracket[0]


def test_where_neither_floats_nor_rationals_decide_in_time_there_is_no_answer():
    with pytest.raises(SolverError, match="floats reached no answer") as caught:
        solve(NEARLY, seconds=1e-9)
    assert "more seconds" in caught.value.remedy
    assert solve(NEARLY, seconds=None).status == "solved in rationals"


@pytest.mark.parametrize("budget", ["seconds", "wall"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_the_time_is_positive(budget, value):
    with pytest.raises(DataError, match="time limit must be positive"):
        solve(NEARLY, **{budget: value})


def test_a_solution_of_which_one_entry_is_beyond_floats_has_no_figures():
    programme = att_svm_programme(two_tokens([(1, 2**-10)], [(1, 0)]))
    rows, exact = ExactProgramme.of(programme), decide(programme)
    near = handed.in_floats(programme, rows, exact, fmpq(10) ** 310)
    assert np.isfinite(near.W).tolist() == [[False, True], [True, True]]
    assert near.primal_residual == near.gap == math.inf


@pytest.mark.parametrize("kind", ["queries", "opposed", "copies"])
def test_supports_from_long_floats_change_no_exact_answer(kind, monkeypatch):
    programme = att_svm_programme(hard_data(kind, 1, 1e-7, shape=(10, 5, 4)))
    assert len(programme.bound) >= exact_svm.MANY
    found = decide(programme)
    monkeypatch.setattr(exact_svm, "MANY", 10**9)
    plain = decide(programme)
    assert found.status == plain.status
    if found.status == "solved":
        assert found.W == plain.W


@given(hard)
def test_nuclear_answers_state_what_their_matrix_misses(data):
    programme, document = attempt(data, norm="nuc")
    assume(document["status"] == "solved")
    short = 1 - min(exact_margins(programme, document["W"]))
    assert short <= Fraction(document["certificate"]["primal_residual"])
    assert document["certificate"]["primal_residual"] <= 1e-8
    assert document["certificate"]["kind"] == "enclosed"


@given(hard, st.sampled_from([0.01, 1.0, 100.0]))
def test_soft_answers_bracket_the_objective_of_their_matrix(data, C):
    programme, document = attempt(data, soft=C)
    W, soft = fractions_of(document["W"]), document["soft"]
    penalty = Fraction(0)
    for i, t, margin in zip(
        programme.input, programme.token, exact_margins(programme, W), strict=True
    ):
        slack = max(Fraction(0), 1 - margin)
        assert 0 <= Fraction(soft["slacks"][i][t]) - slack <= slack / 10**12
        penalty += Fraction(C) * slack
    low, high = document["bracket"]
    # ||W|| + penalty <= high, without a root
    assert penalty <= Fraction(high)
    assert square(W) <= (Fraction(high) - penalty) ** 2
    assert document["certificate"]["primal_residual"] == 0.0
    assert document["certificate"]["kind"] == "enclosed"
    assert high - low <= 2e-9 * high
    assert low <= soft["objective"] <= high
    assert document["gap"] <= 1e-9


def test_a_soft_gap_that_exact_margins_widen_is_stated(monkeypatch):
    """A solver that tells of another matrix than it returns is found out."""
    data = hard_data("thin", 7, 1e-1, shape=(3, 4, 5))
    honest = handed.evaluated_soft
    answer = solve(data, soft=2.0)
    assert answer.kind == "enclosed"
    assert honest(replace(answer.float_answer, gap=1.0)).gap <= 1e-9

    def halved(answer):
        return honest(replace(answer, W=0.5 * answer.W))

    monkeypatch.setattr(answers, "evaluated_soft", halved)
    found = solve(data, soft=2.0)
    low, high = found.bracket
    assert found.status == "bracketed"
    assert found.gap > 1e-3
    assert "bracketed, not solved to 1e-9" in str(found)
    assert low <= answer.objective <= high


def joint_answers(data, targets):
    """The v-SVM, and the p-SVM where there is one."""
    joint = joint_svm(data, targets)
    return [joint.v] if joint.p is None else [joint.v, joint.p]


@given(hard, st.integers(0, 2**32))
@example(hard_data("queries", 11, 1e-6, shape=(3, 4, 3)), 0)
def test_float_answers_of_the_family_state_what_they_miss(data, seed):
    draw = np.random.default_rng(seed)
    keys = draw.standard_normal((data.d, data.d))
    labels, head = draw.choice([-1.0, 1.0], data.n), draw.standard_normal(data.d)
    labelled = AttentionData(data.X, data.Z, y=labels, v=head, mask=data.mask)
    first = [0] * data.n
    found = []
    for solver in (
        lambda: [att_svm(data)],
        lambda: [p_svm(data, None, keys)],
        lambda: [v_svm(labelled, first)],
        lambda: joint_answers(labelled, first),
    ):
        try:
            found += solver()
        except (DataError, SolverError):
            continue
    solved = [answer for answer in found if answer.solved]
    assume(solved)
    for answer in solved:
        asked = zip(exact_margins(answer.programme, answer.W), answer.programme.bound, strict=True)
        short = max((1 - margin for margin, bound in asked if bound > 0.0), default=0)
        assert short <= Fraction(answer.primal_residual)
        assert answer.primal_residual <= (1e-6 if answer.status == "solved in rationals" else 1e-9)


def test_a_vector_whose_floats_miss_the_margins_is_not_handed_out():
    data, draw = hard_data("token scales", 4833, 1e-3, 60.0), np.random.default_rng(1)
    draw.standard_normal((data.d, data.d))
    labels, head = draw.choice([-1.0, 1.0], data.n), draw.standard_normal(data.d)
    labelled = AttentionData(data.X, data.Z, y=labels, v=head, mask=data.mask)
    assert decide(v_svm_programme(labelled, [0] * data.n)).status == "solved"
    with pytest.raises(SolverError, match="miss its margins"):
        v_svm(labelled, [0] * data.n)


@given(programmes(kinds=("keys",)), st.floats(1e-15, 1e-10))
def test_matrices_that_fall_short_say_so_through_keys_as_well(programme, share):
    try:
        answer = solve_programme(programme)
    except SolverError:
        reject()
    assume(answer.solved and (programme.bound > 0.0).any())
    shorter = replace(answer, W=(1.0 - share) * answer.W)
    missed = frobenius.missed_by(shorter, -np.inf, None)
    margins = exact_margins(programme, shorter.W)
    asked = zip(margins, programme.bound.tolist(), strict=True)
    assert max(1 - m / exactly(b) for m, b in asked if b > 0.0) <= Fraction(missed)
    assert missed <= share + 1e-12


def test_large_answers_round_their_residual_outward(monkeypatch):
    data = hard_data("queries", 4, 1.0, shape=(4, 4, 6))
    exact = att_svm(data)
    monkeypatch.setattr(handed, "LARGEST_EVALUATED", 0)
    outward = handed.evaluated(exact)
    assert missed(exact) <= Fraction(outward.primal_residual) <= Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.0, "0.0e+00"), (1e-9, "1.1e-09"), (1.01e-16, "1.1e-16"), (9.99, "1.0e+01")],
)
def test_bounds_are_printed_rounded_up(value, word):
    assert rising(value) == word
    assert float(word) >= value
    assert rising(math.inf) == "inf"


SEPARABLE = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[2.0, 0.0]], scores=[[1.0, 0.0]])


OPPOSED = AttentionData.of(
    [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-3.0]], scores=[[1.0, 0.0], [1.0, 0.0]]
)


@st.composite
def solvable(draw):
    """Small data with unique optimal tokens and a rival somewhere, sometimes with a mask."""
    data = draw(attention_data(n=(1, 3), T=(2, 4)))
    best = data.gamma.max(axis=1, keepdims=True)
    assume(((data.gamma == best).sum(axis=1) == 1).all())
    if draw(st.booleans()):
        mask = np.ones((data.n, data.T), dtype=bool)
        worst = data.gamma.argmin(axis=1)
        mask[0, worst[0]] = False
        assume(mask.sum(axis=1).max() > 1)
        return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)
    return data


@st.composite
def contradictory(draw):
    """Such data with an input twice, whose worst token is the best one of its copy."""
    data = draw(solvable())
    present = data.present
    i = int(present.sum(axis=1).argmax())
    worse = np.where(present[i], data.gamma[i], np.inf)
    scores = np.vstack([data.gamma, -data.gamma[i]])
    scores[-1, worse.argmin()] = np.abs(scores).max() + 1.0
    X, Z = np.concatenate([data.X, data.X[[i]]]), np.vstack([data.Z, data.Z[i]])
    return AttentionData(X, Z, scores=scores, mask=np.vstack([present, present[i]]))


def is_norm_within(low, answer, high):
    """Whether ||W||_F of the exact solution, from its entries, lies in the bracket."""
    total = sum(exactly(x) ** 2 for row in answer.exact.W for x in row)
    return Fraction(low) ** 2 <= total <= Fraction(high) ** 2


@given(solvable())
def test_the_document_follows_the_contract(data):
    answer = solve(data)
    document = answer.json()
    assert list(document) == [
        "schema", "status", "norm", "value", "W", "targets", "margins", "support", "gap", "bracket",
        "certificate", "degenerate", "duplicates", "rank", "exact_W",
    ]  # fmt: skip
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema"] == 1
    assert document["norm"] == "fro"
    assert document["targets"] == optimal_tokens(data).index.tolist()
    certificate = document["certificate"]
    assert certificate["kind"] == answer.kind == "exact"
    duals, exact = np.array(certificate["duals"]), certificate["exact_duals"]
    assert duals.shape == (data.n, data.T)
    assert (duals >= 0).all()
    table = np.array([[Fraction(w) for w in row] for row in exact])
    assert table.shape == (data.n, data.T)
    assume(document["status"] == "solved")
    assert certificate["type"] == "optimality"
    W = np.array(document["W"])
    assert W.shape == (data.d, data.d)
    assert abs(document["value"] - np.linalg.norm(W)) <= 1e-14 * document["value"]
    assert 0 <= document["gap"] <= 1e-9
    assert 0 <= certificate["primal_residual"] <= 1e-9
    assert certificate["least_dual"] == duals.min()
    for i, (row, tight) in enumerate(zip(document["margins"], document["support"], strict=True)):
        for t, margin in enumerate(row):
            rival = bool(data.present[i, t]) and t != document["targets"][i]
            assert (margin is not None) == rival
            assert (t in tight) == (rival and abs(margin - 1.0) <= 1e-7)


@given(contradictory())
def test_the_document_of_unseparable_data_holds_multipliers_that_cancel(data):
    answer = solve(data)
    document, certificate = answer.json(), answer.json()["certificate"]
    assert document["status"] == "unseparable"
    assert certificate["type"] == "farkas"
    for key in ("value", "W", "margins", "support", "bracket"):
        assert document[key] is None
    assert answer.bracket == (math.inf, math.inf)
    assert abs(np.sum(certificate["duals"]) - 1.0) <= 1e-12
    weights = [Fraction(w) for row in certificate["exact_duals"] for w in row]
    assert min(weights) >= 0
    assert {w.denominator for w in weights} == {1}
    assert math.gcd(*(w.numerator for w in weights)) == 1
    assert certificate["dual_residual"] <= 1e-9


@given(solvable())
def test_the_bracket_holds_the_exact_norm_tightly(data):
    answer = solve(data)
    assume(answer.float_answer.solved)
    low, high = answer.bracket
    assert is_norm_within(low, answer, high)
    assert high - low <= 8 * EPS * high  # the ball of a root, and one unit on either side
    # the float solution is proved to within its gap of 1e-9
    assert low * (1 - 1e-9) <= answer.float_answer.value <= high * (1 + 1e-9)


def test_an_unseparable_answer_reads_as_expected():
    answer = solve(OPPOSED)
    assert answer.bracket == (math.inf, math.inf)
    document = answer.json()
    assert document["status"] == "unseparable"
    duals = [[Fraction(w) for w in row] for row in document["certificate"]["exact_duals"]]
    assert (duals[0][1], duals[1][1]) == (3, 1)
    assert np.abs(np.array(document["certificate"]["duals"]) - [[0, 0.75], [0, 0.25]]).max() < 1e-15


def test_large_programmes_are_graded_in_floats():
    """Beyond LARGEST_EXACT constraints no rational answer is made, and the page says so."""
    data = gaussian_protocol(np.random.default_rng(4), n=6, T=44, d=10)
    answer = solve(data)
    assert len(answer.programme.D) == 258 > LARGEST_EXACT
    assert answer.kind == "float"
    assert answer.exact is None
    document = answer.json()
    assert document["certificate"]["exact_duals"] is None
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    low, high = document["bracket"]
    assert low <= document["value"] <= high
    assert "graded in floating point" in str(answer)


def test_rationals_win_over_a_wrong_float_answer(monkeypatch):
    """The float solver is made to claim the opposite; figures follow the exact multipliers."""
    for data, other in ((SEPARABLE, "unseparable"), (OPPOSED, "solved")):
        monkeypatch.undo()
        truth = solve(data)

        def wrong(programme, *_, other=other, **__):
            answer = grade(programme, np.ones(len(programme.D)), solved=other == "solved")
            return frobenius.Search(answer)

        monkeypatch.setattr(answers, "SMALL", 0)
        monkeypatch.setattr(answers, "searched", wrong)
        answer = solve(data)
        assert answer.float_answer.status == truth.float_answer.status != other
        assert np.abs(answer.float_answer.W - truth.float_answer.W).max() <= 1e-15
        assert np.abs(answer.float_answer.duals - truth.float_answer.duals).max() <= 1e-15
        if other == "solved":
            assert abs(answer.float_answer.duals.sum() - 1.0) <= 1e-15


def test_a_float_failure_is_an_error_only_where_rationals_are_not_tried(monkeypatch):
    monkeypatch.setattr(answers, "SMALL", 0)
    monkeypatch.setattr(answers, "searched", lambda *_, **__: frobenius.Search(None))
    assert solve(SEPARABLE).float_answer.W.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    monkeypatch.setattr(answers, "LARGEST_EVALUATED", 0)
    with pytest.raises(SolverError, match="floats reached no answer"):
        solve(SEPARABLE)


def test_a_norm_whose_square_exceeds_float64_is_no_obstacle():
    """||A_j|| is 1e-139 and the two constraints are opposed up to 1e-16: ||W||^2 is 1e310."""
    angle = 2.0**-53
    tokens = [[[1.0, 0.0], [0.0, 0.0]], [[-1.0, angle], [0.0, 0.0]]]
    data = AttentionData.of(tokens, np.tile([1e-139, 0.0], (2, 1)), scores=[[1, 0], [1, 0]])
    answer = solve(data)
    assert answer.status == "solved"
    low, high = answer.bracket
    assert low <= answer.value <= high
    assert is_norm_within(low, answer, high)
    assert answer.value > 1e154
    json.dumps(answer.json(), allow_nan=False)


UNSEPARABLE = AttentionData.of(
    [[[1.0], [0.0]], [[0.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
)


REPEATED = AttentionData.of([[[1.0], [0.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0, 0.0]])


ANSWERS = {
    "fro": lambda: solve(joint_inputs(), [1, 0, 1]),
    "nuc": lambda: solve(gaussian_protocol(np.random.default_rng(0), 3, 4, 3), norm="nuc"),
    "soft": lambda: solve(UNSEPARABLE, soft=10.0),
    "unseparable": lambda: solve(UNSEPARABLE),
    "float": lambda: solve(gaussian_protocol(np.random.default_rng(4), n=6, T=44, d=10)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_text_names_status_and_proof(name):
    answer = ANSWERS[name]()
    text = str(answer)
    assert str(answer.float_answer.status) in text
    for fact in (answer.programme.name, *(value for _, value in answer.facts)):
        assert fact in text
    if answer.solved:
        for i, target in enumerate(answer.programme.targets):
            assert re.search(rf"input +{i} +selects token {target};", text)


@pytest.mark.parametrize("slack", ["input", [0, 1]])
def test_a_hard_margin_has_no_slack_to_share(slack):
    with pytest.raises(DataError, match="the margin is hard"):
        solve(one_input(), slack=slack)


def test_support_tokens_are_marked_and_no_others():
    answer = solve(one_input())
    (line,) = [row for row in str(answer).splitlines() if row.startswith("input")]
    marked = {int(t) for t in re.findall(r"(\d+)\*:", line)}
    assert marked == set(answer.float_answer.support[0]) == {2}


def test_a_shared_slack_is_in_the_heading_and_its_support_alone_is_marked():
    data = AttentionData.of(
        [[[2.0], [1.0], [0.0]], [[4.0], [0.0], [-1.0]]], [[1.0], [1.0]], scores=[[1, 0, 0]] * 2
    )
    heading, *_, first, second, mark = str(solve(data, soft=0.5, slack="input")).splitlines()
    assert heading.endswith("4 constraints, slack per input")
    assert first.endswith("margins 1*:0.25  2:0.5")
    assert second.endswith("margins 1*:1  2:1.25")
    assert mark.endswith("support tokens, whose margin is 1 less their slack")
    assert "slack per constraint" in str(solve(data, soft=0.5))


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        ((0.5, 2.0), "W = 0 up to C = 0.5, the hard margin from C = 2 on"),
        ((0.5, math.inf), "W = 0 up to C = 0.5; there is no hard margin"),
        ((math.inf, math.inf), "W = 0 for every C; there is no hard margin"),
        (
            (0.5, math.nan),
            "W = 0 up to C = 0.5; floats cannot decide whether there is a hard margin",
        ),
    ],
)
def test_thresholds_are_told_in_words(thresholds, said):
    answer = solve(one_input(), soft=1.0).float_answer
    shown = dict(replace(answer, thresholds=thresholds).facts)
    assert shown["soft"] == said
    assert shown["objective"].endswith("] (not certified)")


def test_an_input_of_one_token_has_no_margins_and_says_so():
    X, Z = [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [1.0]]
    mask = np.array([[True, True], [True, False]])
    answer = solve(AttentionData.of(X, Z, scores=[[1, 0], [1, 0]], mask=mask))
    assert "selects token 0; margins none, a single token" in str(answer)
    assert "2 inputs, up to 2 tokens, 1 constraint\n" in str(answer)


def test_idle_and_repeated_constraints_are_named():
    text = str(solve(REPEATED))
    assert "the same constraint: input 0 token 1 = input 0 token 2" in text
    tight = AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]],
        np.tile([1.0, 0.0], (3, 1)),
        scores=[[1, 0]] * 3,
    )  # the third constraint is the mean of the others: tight, and it carries nothing
    answer = solve(tight)
    idle = answer.float_answer.duals[:, 1] == 0.0
    assert answer.float_answer.support == ((1,), (1,), (1,))
    assert answer.float_answer.degenerate == tuple((1,) if zero else () for zero in idle)
    assert idle.any()
    named = "; ".join(f"input {i} token 1" for i in np.flatnonzero(idle))
    assert f"tight with multiplier 0: {named}" in str(answer)


def test_single_answers_show_themselves_in_a_line():
    assert repr(solve(one_input())).startswith("<Att-SVM of 1 input, 3 tokens: solved, norm ")
    assert repr(solve(one_input())).endswith(", exact certificate>")
    for answer in (solve(one_input(), norm="nuc"), solve(one_input(), soft=1.0)):
        assert re.search(r"of 1 inputs?, 3 tokens", repr(answer))
    joint = joint_svm(joint_inputs(), [1, 1, 1])
    assert repr(joint).startswith("<JointAnswer: v <")
    assert len(repr(joint)) < 500
    assert repr(joint.v).startswith("<v-SVM")


def test_a_plot_has_a_point_for_every_margin(tmp_path, monkeypatch):
    drawn = []
    from matplotlib.axes import Axes

    scatter = Axes.scatter
    monkeypatch.setattr(
        Axes, "scatter", lambda self, x, y, **k: (drawn.extend(x), scatter(self, x, y, **k))[1]
    )
    for name in ("fro", "nuc", "soft", "float"):
        drawn.clear()
        answer = ANSWERS[name]()
        path = answer.plot(tmp_path / f"{name}.png")
        assert path.stat().st_size > 1000
        margins = answer.float_answer.margins
        assert sorted(drawn) == sorted(margins[np.isfinite(margins)])


def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no margins"):
        solve(UNSEPARABLE).plot(tmp_path / "a.png")
    with pytest.raises(UsageError, match="no ending") as caught:
        solve(one_input()).plot(tmp_path / "a.txt")
    assert "png" in caught.value.remedy
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(UsageError, match="need matplotlib"):
        solve(one_input()).plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_margin_that_is_met_exactly_misses_nothing():
    assert handed.short_of(1.0, np.array([2.0, 1.0])) == 0.0
    assert handed.short_of(1.0, np.array([2.0, np.nextafter(1.0, 0.0)])) >= 2.0**-53

"""What `solve` hands out is what it certifies: margins of the printed floats, in fractions."""

import json
import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import attsvm.exact.svm as exact_svm
import attsvm.svm.answer as answers
import attsvm.svm.handed as handed
from attsvm import AttentionData, solve
from attsvm._words import rising
from attsvm.errors import DataError, OutOfTimeError, SolverError
from attsvm.exact.deadline import Deadline
from attsvm.exact.svm import decide
from attsvm.svm import att_svm, att_svm_batch, att_svm_programme, joint_svm, p_svm, v_svm

KINDS = (
    "queries",
    "tokens",
    "thin",
    "token scales",
    "query scales",
    "integers",
    "both",
    "opposed",
    "copies",
)


def instance(kind, seed, small=1e-8, scale=50.0, shape=None):
    """Data whose constraints are nearly dependent, of very different size, or repeated."""
    draw = np.random.default_rng(seed)
    n, T, d = shape or (
        int(draw.integers(1, 6)),
        int(draw.integers(1, 5)),
        int(draw.integers(1, 6)),
    )
    X, Z = draw.standard_normal((n, T, d)), draw.standard_normal((n, d))
    mask = draw.random((n, T)) < 0.8
    mask[:, 0] = True
    if kind in ("queries", "both", "opposed"):
        Z = Z[:1] + small * Z
    if kind in ("tokens", "both"):
        X = X[:1] + small * X
    if kind == "thin":
        X[:, 1:] = X[:, :1] - small * X[:, 1:]
    if kind == "token scales":
        X *= 10.0 ** draw.uniform(-scale, scale, (n, 1, 1))
    if kind == "query scales":
        Z *= 10.0 ** draw.uniform(-scale, scale, (n, 1))
    if kind == "integers":
        X = draw.integers(-2, 3, (n, T, d)).astype(float)
        Z = draw.integers(-1, 2, (n, d)) + small * draw.integers(-1, 2, (n, d))
    if kind == "opposed":
        X[1:] = -X[:1] + small * X[1:]
    if kind == "copies":
        X[n // 2 :], Z[n // 2 :] = X[: n - n // 2], Z[: n - n // 2] * (1.0 + small)
    scores = np.tile(-np.arange(float(T)), (n, 1))
    return AttentionData(X, Z, scores=scores, mask=mask if seed % 3 else None)


def fractions_of(table):
    """A table of floats, or of rationals as words."""
    return [[Fraction(x) for x in row] for row in table]


def exact_margins(data, W, targets):
    """(x_target - x_t)^T W z by input and token, nothing rounded."""
    found = {}
    for i, best in enumerate(targets):
        z = [Fraction(x) for x in data.Z[i].tolist()]
        image = [sum(a * b for a, b in zip(row, z, strict=True)) for row in W]
        for t in range(data.T):
            if data.present[i, t] and t != best:
                kept, rival = data.X[i, best].tolist(), data.X[i, t].tolist()
                found[i, t] = sum(
                    (Fraction(a) - Fraction(b)) * c
                    for a, b, c in zip(kept, rival, image, strict=True)
                )
    return found


def missed(data, W, targets):
    """How far the least margin of W falls short of 1."""
    return 1 - min(exact_margins(data, W, targets).values())


def square(W):
    return sum(x * x for row in W for x in row)


def is_the_solution(data, document):
    """Whether `exact_W` and `exact_duals` meet every condition of optimality exactly."""
    W, duals = (
        fractions_of(document["exact_W"]),
        fractions_of(document["certificate"]["exact_duals"]),
    )
    margins = exact_margins(data, W, document["targets"])
    combined = [[Fraction(0)] * data.d for _ in range(data.d)]
    for (i, t), margin in margins.items():
        weight = duals[i][t]
        if not (weight >= 0 and margin >= 1 and (weight == 0 or margin == 1)):
            return False
        best = document["targets"][i]
        for r in range(data.d):
            step = Fraction(data.X[i, best, r].item()) - Fraction(data.X[i, t, r].item())
            for c in range(data.d):
                combined[r][c] += weight * step * Fraction(data.Z[i, c].item())
    return combined == W


def attempt(data, **options):
    """The document of `solve`, or None where it refuses or there is nothing to separate."""
    try:
        return json.loads(json.dumps(solve(data, **options).json(), allow_nan=False))
    except (DataError, SolverError):
        return None


hard = st.builds(
    instance,
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.floats(3.0, 15.0).map(lambda k: 10.0**-k),
    st.sampled_from([5.0, 20.0, 60.0, 150.0]),
)


@settings(max_examples=250, deadline=None)
@given(hard)
def test_no_printed_matrix_misses_its_margins_by_more_than_is_stated(data):
    document = attempt(data)
    assume(document is not None and document["status"] != "unseparable")
    certificate = document["certificate"]
    assert certificate["kind"] == "exact"
    short = missed(data, fractions_of(document["W"]), document["targets"])
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
        assert is_the_solution(data, document)


NEARLY = instance("queries", 0, 1e-12, shape=(4, 4, 3))


def test_rationals_alone_solve_where_no_float_matrix_near_the_solution_does():
    answer = solve(NEARLY)
    document = json.loads(json.dumps(answer.json(), allow_nan=False))
    assert document["status"] == answer.status == "solved in rationals"
    assert answer.solved
    assert is_the_solution(NEARLY, document)
    assert [[str(x) for x in row] for row in answer.exact.W] == document["exact_W"]
    nearest = [[float(x) for x in row] for row in fractions_of(document["exact_W"])]
    assert document["W"] == nearest == answer.W.tolist()
    assert missed(NEARLY, fractions_of(nearest), document["targets"]) > Fraction(1, 10**9)
    margins = exact_margins(NEARLY, fractions_of(nearest), document["targets"])
    for (i, t), margin in margins.items():
        assert document["margins"][i][t] == float(margin)
    exact = exact_margins(NEARLY, fractions_of(document["exact_W"]), document["targets"])
    assert {(i, t) for i, row in enumerate(document["support"]) for t in row} == {
        key for key, margin in exact.items() if margin == 1
    }
    page = str(answer)
    assert "certified" not in page
    assert "solved in rationals, not in floats: W, the float matrix nearest to it, misses" in page
    assert f"misses a margin by {rising(answer.primal_residual)}" in page
    assert document["certificate"]["statement"] in page
    assert "`exact_W` of --json" in page
    assert "whose margin is 1 in the exact solution" in page


def test_a_slightly_longer_matrix_may_meet_the_margins_and_its_gap_is_stated(monkeypatch):
    data = instance("queries", 5, 1e-6, shape=(3, 3, 3))
    plain = solve(data)
    assert plain.status == "solved"
    assert plain.primal_residual > 0.0
    monkeypatch.setattr(handed, "TOLERANCE", 0.3 * plain.primal_residual)
    longer = solve(data)
    assert longer.status == "solved"
    short = missed(data, fractions_of(longer.W.tolist()), longer.targets.tolist())
    assert short <= Fraction(longer.primal_residual) <= Fraction(handed.TOLERANCE)
    assert plain.gap < longer.gap <= 16 * plain.primal_residual
    _, high = longer.bracket
    W = fractions_of(longer.W.tolist())
    assert square(W) * (1 - Fraction(longer.gap)) <= Fraction(high) ** 2


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


# the time


SLOW = instance("queries", 2, 1e-6, shape=(43, 6, 22))


def test_the_time_given_is_kept_where_rationals_take_long():
    """Whether an answer or a refusal comes depends on the machine; that one comes does not."""
    start = time.monotonic()
    try:
        said = str(solve(SLOW, seconds=3.0).programme)
    except SolverError as error:
        said = str(error)
    assert time.monotonic() - start <= 20.0
    assert said == str(att_svm_programme(SLOW)) or "did not end in the time given (got 3 s)" in said


def test_nearly_equal_queries_of_many_inputs_are_certified_in_the_usual_time():
    answer = solve(SLOW)
    assert answer.exact is not None
    short = missed(SLOW, fractions_of(answer.W.tolist()), answer.targets.tolist())
    assert short <= Fraction(answer.primal_residual)


def test_what_was_not_certified_in_time_says_so_and_has_honest_figures():
    data = instance("thin", 7, 1e-3, shape=(3, 4, 5))
    whole, cut = solve(data, seconds=None), solve(data, seconds=1e-9)
    assert whole.kind == "exact"
    assert cut.kind == "float"
    assert cut.exact is None
    assert cut.status == "solved"
    assert "solved, not certified in 1e-09 s" in str(cut)
    assert cut.json()["certificate"]["statement"].startswith("not certified in 1e-09 s")
    short = missed(data, fractions_of(cut.W.tolist()), cut.targets.tolist())
    assert short <= Fraction(cut.primal_residual) <= Fraction(1, 10**9)
    low, high = cut.bracket
    assert low <= whole.bracket[1]
    assert high >= whole.bracket[0]


def test_where_neither_floats_nor_rationals_decide_in_time_there_is_no_answer():
    with pytest.raises(SolverError, match="floats reached no answer") as caught:
        solve(NEARLY, seconds=1e-9)
    assert "more seconds" in caught.value.remedy
    assert solve(NEARLY, seconds=None).status == "solved in rationals"


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_the_time_is_positive(seconds):
    with pytest.raises(DataError, match="time given is positive"):
        solve(NEARLY, seconds=seconds)


def test_a_deadline_refuses_what_does_not_fit():
    Deadline.after(100.0).ensure(1.0)
    with pytest.raises(OutOfTimeError, match="got 100 s"):
        Deadline.after(100.0).ensure(101.0)
    with pytest.raises(OutOfTimeError):
        decide(att_svm_programme(NEARLY), None, Deadline.after(1e-9))


@pytest.mark.parametrize("kind", ["queries", "tokens", "opposed", "integers", "copies"])
def test_supports_from_long_floats_change_no_exact_answer(kind, monkeypatch):
    programme = att_svm_programme(instance(kind, 1, 1e-7, shape=(10, 5, 4)))
    assert len(programme.bound) >= exact_svm.MANY
    found = decide(programme)
    monkeypatch.setattr(exact_svm, "MANY", 10**9)
    plain = decide(programme)
    assert found.status == plain.status
    if found.status == "solved":
        assert found.W == plain.W


# other norms and other programmes


@settings(max_examples=60, deadline=None)
@given(hard)
def test_nuclear_answers_state_what_their_matrix_misses(data):
    document = attempt(data, norm="nuc")
    assume(document is not None and document["status"] == "solved")
    short = missed(data, fractions_of(document["W"]), document["targets"])
    assert short <= Fraction(document["certificate"]["primal_residual"])
    assert document["certificate"]["primal_residual"] <= 1e-8
    assert document["certificate"]["kind"] == "enclosed"


@settings(max_examples=80, deadline=None)
@given(hard, st.sampled_from([0.01, 1.0, 100.0]))
def test_soft_answers_bracket_the_objective_of_their_matrix(data, C):
    document = attempt(data, soft=C)
    assume(document is not None)
    W, soft = fractions_of(document["W"]), document["soft"]
    penalty = Fraction(0)
    for (i, t), margin in exact_margins(data, W, document["targets"]).items():
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


def test_a_soft_gap_that_exact_margins_widen_is_refused(monkeypatch):
    """A solver that tells of another matrix than it returns is found out."""
    data = instance("thin", 7, 1e-1, shape=(3, 4, 5))
    honest = handed.evaluated_soft
    assert solve(data, soft=2.0).kind == "enclosed"

    def halved(answer):
        return honest(replace(answer, W=0.5 * answer.W))

    monkeypatch.setattr(answers, "evaluated_soft", halved)
    with pytest.raises(SolverError, match="gap of the soft margin"):
        solve(data, soft=2.0)


def exact_shortfall(answer):
    """How far positive bounds are missed, from the tokens of the programme, in fractions."""
    programme = answer.programme
    W, worst = fractions_of(answer.W.tolist()), Fraction(0)
    keys = None if programme.keys is None else fractions_of(programme.keys.tolist())
    for j in np.flatnonzero((programme.bound > 0.0) & ~programme.equal):
        pairs = zip(programme.kept[j].tolist(), programme.rival[j].tolist(), strict=True)
        row = [Fraction(a) - Fraction(b) for a, b in pairs]
        if keys is not None:
            row = [sum(a * b for a, b in zip(line, row, strict=True)) for line in keys]
        z = [Fraction(x) for x in programme.Z[j].tolist()]
        margin = sum(
            a * sum(b * c for b, c in zip(line, z, strict=True))
            for a, line in zip(row, W, strict=True)
        )
        worst = max(worst, 1 - margin)
    return worst


def joint_answers(data, targets):
    """The v-SVM, and the p-SVM where there is one."""
    joint = joint_svm(data, targets)
    return [joint.v] if joint.p is None else [joint.v, joint.p]


@settings(max_examples=150, deadline=None)
@given(hard, st.integers(0, 2**32))
@example(instance("queries", 11, 1e-6, shape=(3, 4, 3)), 0)
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
        assert exact_shortfall(answer) <= Fraction(answer.primal_residual)
        assert answer.primal_residual <= 1e-9


def test_batches_state_what_they_miss():
    sets = [instance("queries", seed, 1e-2, shape=(3, 3, 3)) for seed in range(0, 60, 3)]
    answers = att_svm_batch(sets)
    assert answers.solved.sum() >= 10
    for b in np.flatnonzero(answers.solved):
        short = missed(sets[b], fractions_of(answers.W[b].tolist()), answers.targets[b].tolist())
        assert short <= Fraction(float(answers.primal_residual[b]))


def test_large_answers_round_their_residual_outward(monkeypatch):
    data = instance("queries", 4, 1.0, shape=(4, 4, 6))
    exact = att_svm(data)
    monkeypatch.setattr(handed, "LARGEST_EVALUATED", 0)
    outward = handed.evaluated(exact)
    short = missed(data, fractions_of(exact.W.tolist()), exact.targets.tolist())
    assert short <= Fraction(outward.primal_residual) <= Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.0, "0.0e+00"), (1e-9, "1.1e-09"), (1.01e-16, "1.1e-16"), (9.99, "1.0e+01")],
)
def test_bounds_are_printed_rounded_up(value, word):
    assert rising(value) == word
    assert float(word) >= value
    assert rising(math.inf) == "inf"

"""Two points under softmax: norms, hypotheses and constants of the seven bounds of section 3.3."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from scipy.special import expit

from attsvm.attention import kron_block, softmax
from attsvm.errors import DataError
from attsvm.exact import lipschitz as exact
from attsvm.exact import rationals
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import (
    SOFTMAX_ENTRY_LIPSCHITZ,
    SOFTMAX_LIPSCHITZ,
    SOFTMAX_OUTER_LIPSCHITZ,
    spread,
)
from attsvm.risk import covariance
from attsvm.strategies import arrays, sizes
from attsvm.theory import PROFILES, load_packs
from attsvm.theory.check import check_part
from properties.sim import basics, bounded, entries, exponentials, steepness, values
from properties.sim.basics import Domain, InBall, Points
from properties.sim.entries import EntryPair

CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
MINE = sorted(k for k in CLAIMS if k.startswith(("sim/basic-", "sim/logistic-lipschitz")))
KINDS = ["vector", "entry", "outer", "outer-frobenius"]
BEST = {
    "vector": SOFTMAX_LIPSCHITZ,
    "entry": SOFTMAX_ENTRY_LIPSCHITZ,
    "outer": SOFTMAX_OUTER_LIPSCHITZ,
    "outer-frobenius": SOFTMAX_LIPSCHITZ,
}


def derivative_norm(f, s, kind):
    """The norm of the derivative of f, diag f or f f^T along logits s."""
    w = covariance(f, s)
    moved = np.outer(w, f) + np.outer(f, w)
    return {
        "vector": np.linalg.norm(w),
        "entry": np.abs(w).max(),
        "outer": np.linalg.norm(moved, 2),
        "outer-frobenius": np.linalg.norm(moved),
    }[kind]


def test_every_bound_has_its_claims():
    statements = {name.rpartition(":")[0] for name in MINE}
    assert statements == {*(f"sim/basic-{k}" for k in range(1, 8)), "sim/logistic-lipschitz"}
    for statement in statements:
        assert any(name.startswith(f"{statement}:literal") for name in MINE)
        assert any(name.startswith(f"{statement}:sharp") for name in MINE)


@given(st.data(), sizes(1, 5))
@settings(deadline=None)
def test_no_derivative_exceeds_the_constants(data, n):
    f, s = softmax(data.draw(arrays(n)) * 2), data.draw(arrays(n))
    for kind in KINDS:
        size = derivative_norm(f, s, kind)
        assert size <= BEST[kind] * np.linalg.norm(s) * (1 + 1e-12) + 1e-15
        assert size <= BEST[kind] * (s.max() - s.min()) / math.sqrt(2) * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("kind", KINDS)
def test_two_tokens_reach_the_constants(kind):
    q = math.sqrt(2 / math.sqrt(3) - 1) if kind == "outer" else 0.0
    f, s = np.array([1 + q, 1 - q]) / 2, np.array([1.0, -1.0]) / math.sqrt(2)
    assert derivative_norm(f, s, kind) == pytest.approx(BEST[kind], rel=1e-12)


def test_constants_and_their_enclosures_agree():
    with ctx.workprec(128):
        for ball, value in (
            (exact.softmax_entry_constant(), SOFTMAX_ENTRY_LIPSCHITZ),
            (exact.softmax_outer_constant(), SOFTMAX_OUTER_LIPSCHITZ),
        ):
            assert abs(ball - arb(value)) < 1e-15
            assert ball.rad() < 1e-30


@given(st.data(), sizes(1, 4), sizes(1, 3))
@settings(deadline=None)
def test_the_spread_replaces_the_spectral_norm(data, n, D):
    A, level = data.draw(arrays(n, D)), data.draw(arrays(D))
    size = spread(A)
    assert size <= np.linalg.norm(A, 2) * (1 + 1e-12)
    assert spread(A + level) == pytest.approx(size)
    assert abs(exact.spread(rationals(A)) - arb(size)) <= 1e-14 * (1 + size)
    v = data.draw(arrays(D))
    logits = A @ v
    reach = math.sqrt(2) * size * np.linalg.norm(v)
    assert logits.max() - logits.min() <= reach * (1 + 1e-12)


def test_the_spread_of_opposite_tokens_is_the_spectral_norm():
    assert spread(np.array([[3.0, 4.0], [-3.0, -4.0]])) == pytest.approx(5 * math.sqrt(2))
    assert spread(np.ones((1, 2))) == 0.0
    assert spread(np.array([[1e-200], [0.0]])) > 0.0


@given(basics.points(0, 2), st.sampled_from(KINDS))
@settings(deadline=None)
def test_shifts_agree_with_their_enclosures(case, kind):
    value, error = basics.shift(case, kind)
    with ctx.workprec(192):
        ball = basics.exact_shift(case, kind)
        assert abs(ball - arb(value)) <= error


@pytest.mark.parametrize("seed", range(10))
def test_rounding_of_cancelling_logits_is_bounded(seed):
    """Products of size 1e4 that cancel to logits near 0."""
    g = np.random.default_rng(seed)
    A, x = g.normal(size=(3, 3)) * 100, g.normal(size=3) * 100
    A[:, 2] = -(A[:, :2] @ x[:2]) / x[2] * (1 + 1e-4 * g.normal(size=3))
    case = Points(A, x, x)
    total = float(basics.powers(case)[0].sum())
    with ctx.workprec(192):
        exact_alpha = basics.exact_total(basics.exact_logits(case)[0])
        assert abs(exact_alpha - arb(total)) <= basics.rounding(case) * exact_alpha


@given(basics.points(0, 2))
@settings(deadline=None)
def test_shifts_are_what_they_say(case):
    f, g = softmax(case.A @ case.x), softmax(case.A @ case.y)
    outer = np.outer(f, f) - np.outer(g, g)
    expected = {
        "vector": np.linalg.norm(f - g),
        "entry": np.linalg.norm(np.diag(f) - np.diag(g), 2),
        "outer": np.abs(np.linalg.eigvalsh(outer)).max(),
        "outer-frobenius": math.sqrt((outer**2).sum()),
    }
    for kind, value in expected.items():
        assert basics.shift(case, kind)[0] == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize(
    ("logits", "beta", "holds"),
    [
        ([0, 0], 2.0, True),
        ([0, 0], np.nextafter(2.0, 3.0), False),
        ([1], math.e, False),  # the float is above e by 1e-16
        ([1], np.nextafter(math.e, 0.0), True),
        ([fmpq(1, 2), fmpq(-1, 2)], 2.25, True),
        ([fmpq(1, 2), fmpq(-1, 2)], 2.26, False),
        ([0], 0.0, False),
        ([0], -1.0, False),
    ],
)
def test_lower_bounds_of_alpha_are_decided(logits, beta, holds):
    with ctx.workprec(256):
        if logits == [1]:
            holds = bool(arb(1).exp() >= basics.rational(float(beta)))
    assert basics.alpha_at_least([fmpq(x) for x in logits], float(beta)) is holds


def test_norms_on_the_edge_are_decided_exactly():
    A = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    assert basics.bounded_matrix(A, 4.0)
    assert not basics.bounded_matrix(A, np.nextafter(4.0, 0.0))
    assert not basics.bounded_matrix(A * 0, -1.0)
    at = Points(A, np.ones(2), np.zeros(2))
    assert basics.bounded_logits(at, 5.0)
    assert not basics.bounded_logits(at, np.nextafter(5.0, 0.0))
    assert not basics.bounded_logits(Points(A, np.zeros(2), np.ones(2)), 4.0)


def test_blocks_of_kronecker_products_are_recognised():
    a, rows = np.array([2.0, -3.0]), np.array([[1.0, 5.0], [0.0, 0.5], [-1.0, 0.0]])
    block = np.kron(a[None], rows)
    assert basics.is_block(block)
    assert basics.is_block(block * [1.0, 1.0, 0.0, 0.0])
    assert basics.is_block(np.zeros((3, 4)))
    assert basics.is_block(rows[:, :1])
    assert not basics.is_block(np.eye(2))
    assert not basics.is_block(np.eye(4))
    assert not basics.is_block(np.zeros((2, 3)))
    for spot in np.ndindex(block.shape):
        off = block.copy()
        off[spot] = np.nextafter(off[spot], 9.0)
        assert not basics.is_block(off)


@given(exponentials.blocks(), st.integers(0, 2))
@settings(deadline=None, max_examples=50)
def test_blocks_of_the_paper_are_blocks(case, j):
    assert basics.is_block(kron_block(case.A1, case.A2, j % len(case.A1)))


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=200)
def test_moves_move_a_weight_where_asked_for(data, blocks):
    A, x, y = data.draw(basics.moves(True, blocks))
    s, t = basics.exact_logits(Points(A, x, y))
    assert len(set(subtract(s, t))) > 1
    assert basics.is_block(A) or not blocks


@pytest.mark.parametrize("blocks", [False, True])
def test_half_of_the_pairs_change_the_loss_and_others_do_not(blocks):
    changing = []

    @seed(0)
    @settings(max_examples=120, database=None, deadline=None, phases=[Phase.generate])
    @given(entries.pairs(0, 1, blocks=blocks))
    def draw(case):
        changing.append(not entries.exact_pair(case).still)

    draw()
    assert 0.4 <= np.mean(changing) <= 0.9


@pytest.mark.parametrize(
    ("A", "x", "R"),
    [
        ([[4.0], [0.0]], [0.0], 4.0),
        (5 * np.eye(2), [0.0, 0.0], 5.0),
        ([[3.0, 0.0], [4.0, 0.0]], [0.0, 9.0], 5.0),
        ([[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0], 5.0),
    ],
)
def test_radii_are_least_integers_up_to_the_edge(A, x, R):
    """The spectral norm counts, and integers stay what they are."""
    case = _fitted(A, x)
    assert case.R == R
    assert all(holds(case) for holds in bounded.LISTED.values())
    inside = replace(case, R=np.nextafter(R, 0.0))
    assert not all(holds(inside) for holds in bounded.LISTED.values())


def test_what_is_beyond_an_integer_by_one_rounding_is_decided_exactly():
    case = _fitted([[5.0]], [np.nextafter(1.0, 2.0)])
    assert case.R == 5.0
    assert not bounded.LISTED["||A x|| <= R"](case)


def _fitted(A, x):
    A, x = np.array(A), np.array(x)
    return bounded.fitted(EntryPair(A, x, x * 0.0, np.ones(len(A)), 1.0), everything=False)


@given(basics.domains(4.0))
@settings(deadline=None, max_examples=50)
def test_drawn_domains_meet_the_listed_conditions(case):
    assert all(holds(case) for holds in steepness.LISTED.values())


@given(values.valued(0, 1))
@settings(deadline=None, max_examples=50)
def test_drawn_values_come_with_a_domain(case):
    assert all(holds(case) for holds in values.HELD.values())


@given(exponentials.blocks())
@settings(deadline=None, max_examples=50)
def test_blocks_are_rows_of_the_whole_matrix(case):
    whole, block = case.points(whole=True), case.points(whole=False)
    n = len(case.A1)
    np.testing.assert_array_equal(whole.A[:n], block.A)
    S, T = case.exact_logits()
    for found, at in ((S, whole.x), (T, whole.y)):
        exact_values = [float(x.p) / float(x.q) for x in exponentials.joined(found)]
        np.testing.assert_allclose(exact_values, whole.A @ at, atol=1e-12)


@pytest.mark.parametrize(
    ("s", "t", "constant"),
    [
        ([1, 1], [0, 0], True),
        ([1, 2], [1, 2], True),
        ([1, 2], [0, 2], False),
        ([1, 0], [0, 1], False),
        ([1], [5], True),
    ],
)
def test_constant_changes_are_recognised(s, t, constant):
    s, t = ([fmpq(x) for x in v] for v in (s, t))
    assert exponentials.surely_constant(s, t) is constant
    with ctx.workprec(128):
        w = exponentials.changes(s, t)
        assert all(abs(x - w[0]) < 1e-30 for x in w) is constant


def test_equal_sums_are_recognised():
    assert basics.same_total([fmpq(1), fmpq(2)], [fmpq(2), fmpq(1)])
    assert not basics.same_total([fmpq(1), fmpq(1)], [fmpq(1), fmpq(2)])


@pytest.mark.parametrize("k", [2, 8, 30, 45])
def test_the_published_constant_survives_large_radii(k):
    """Both sides are divided by it: neither overflows, and the float agrees with the ball."""
    case = Domain(steepness.BALANCED, float(k), 1.0)
    slack = steepness.slack(case, "vector", 2, True)
    with ctx.workprec(256):
        ball = steepness.published_ball(case)
        assert arb(slack.value - slack.error) <= ball <= arb(slack.value + slack.error)


def test_tiny_exponentials_keep_their_length():
    """Their squares underflow."""
    at = Points(np.ones((2, 1)), np.array([-600.0]), np.array([-601.0]))
    for slack in (
        exponentials.sum_slack(at, at, 1.0),
        exponentials.length_slack(InBall(at, 1.0), 1.0, 0.0),
    ):
        assert slack.holds or abs(slack.value) <= slack.error
        assert slack.error < 1e-260 or slack.value > 0.9


def test_what_overflows_is_unknown():
    far = Points(np.array([[2.0**300]]), np.array([2.0**300]), np.zeros(1))
    assert exponentials.length_slack(InBall(far, 1.0), 1.0, 1.0).kind == "unknown"
    assert exponentials.sum_slack(far, far, 1.0).kind == "unknown"
    assert exponentials.inverse_slack(far, far, 1.0).kind == "unknown"
    huge = Domain(steepness.BALANCED, 4.0, 2.0**600)
    assert steepness.slack(huge, "outer", 3, True).kind == "unknown"


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="fit"):
        Points(np.ones((2, 1)), np.ones(1), np.ones(2))
    with pytest.raises(DataError, match="fit"):
        exponentials.Blocks(np.ones((2, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    with pytest.raises(DataError, match="fit"):
        values.with_values(steepness.ONE_TOKEN, 1.0, 2.0)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *((f"sim/basic-{k}:sharp", "95% of it") for k in (4, 5)),
        *((f"sim/basic-{k}:sharp-{r}", "95% of it") for k in (6, 7) for r in (1, 2)),
        ("sim/basic-1:sharp-1", "95% of it"),
        ("sim/basic-1:sharp-2", "95% of it"),
        ("sim/basic-2:literal-1", "95% of it"),
        ("sim/basic-3:sharp-1", "95% of it"),
        ("sim/basic-3:sharp-2", "95% of it"),
        ("sim/basic-1:literal-2", ""),
        ("sim/basic-3:literal-2", ""),
        ("sim/basic-5:literal-1", ""),
    ],
)
def test_what_is_false_falls_without_explicit_instances(name, part):
    claim = CLAIMS[name]
    bare = tuple(replace(s, examples=()) for s in claim.siblings)
    bare = replace(claim, examples=(), siblings=bare, proof=None)
    outcome = check_part(bare, bare.part(part), PROFILES["quick"], 0, 0)
    assert outcome.error is None
    assert outcome.refuted is not None


def test_the_logistic_function_is_the_one_of_definition_3_5():
    claim = CLAIMS["sim/logistic-lipschitz:sharp"]
    (pair,) = (case for case in claim.examples if case.x != case.y)
    slack = claim.conclusion(pair)
    moved = abs(expit(pair.x) - expit(pair.y))
    assert slack.value == pytest.approx(abs(pair.x - pair.y) / 4 - moved, abs=1e-15)
    assert slack.ratio > 0.9999

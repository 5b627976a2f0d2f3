"""Softmax against linear attention: the crossings, the theorem behind them, and the picture."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_poly
from hypothesis import given

from attsvm.attention import softmax
from attsvm.errors import ProofError
from attsvm.lipschitz import softmax_gradient_constant, squared_gradient_constant
from attsvm.losses import logistic_curvature, logistic_slope
from attsvm.theory import gradient
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.proof.facts import proof
from attsvm.theory.proof.terms import as_term
from properties.sim import stability_l2 as l2
from properties.sim import stability_logistic as logistic
from properties.sim._support import stability as shared
from properties.sim._support.entry_loss import squared_gradient, squared_loss
from properties.sim.figures import stability
from properties.sim.stability_l2 import conclusion as squared_entries
from properties.sim.stability_logistic import instances as logistic_entries
from symbolic.sim import stability as proofs
from symbolic.sim import stability_gradients as gradients
from tests.searching import drawn, few

pytestmark = pytest.mark.usefixtures("steps")

INF = math.inf


def slopes(loss, d, size):
    """l'(d) and l''(d) of g, or of (d + size)^2."""
    if loss == "logistic":
        return float(logistic_slope(np.array([d]))[0]), float(logistic_curvature(np.array([d]))[0])
    return 2.0 * (d + size), 2.0


def bends(loss, s, h, size):
    """||grad|| and the norm of the second derivative of l(<softmax(s), h>) in s."""
    f = softmax(s)
    d = float(f @ h)
    c = f * (h - d)
    first, second = slopes(loss, d, size)
    hessian = second * np.outer(c, c) + first * (np.diag(c) - np.outer(f, c) - np.outer(c, f))
    return abs(first) * np.linalg.norm(c), np.abs(np.linalg.eigvalsh(hessian)).max()


def test_two_tokens_are_proved_to_reach_more_than_the_bound_of_others():
    assert proofs.two_tokens_reach_more()
    assert proofs.two_tokens_reach_more(fmpq(99, 100))
    assert not proofs.two_tokens_reach_more(fmpq(97, 100))
    assert not proofs.two_tokens_reach_more(cells=1)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize(
    ("loss", "size"), [("logistic", 0.7227), ("logistic", 9.0), ("squared", 3.53), ("squared", 0.3)]
)
def test_no_head_of_that_length_exceeds_the_constants(loss, size, n):
    generator = np.random.default_rng(n)
    steep, bent = (stability.constants(loss, size, gradient=g)[0] for g in (False, True))
    for _ in range(few(600)):
        h = generator.normal(size=n) * np.exp(generator.normal(size=n))
        h *= (size if loss == "logistic" else 1.0) / np.linalg.norm(h)
        found = bends(loss, generator.normal(size=n), h, size)
        assert found[0] <= steep * (1 + 1e-9)
        assert found[1] <= bent * (1 + 1e-9)


@pytest.mark.parametrize(("loss", "size"), [("logistic", 0.7227), ("squared", 3.5323)])
def test_two_tokens_attain_the_constant_of_the_gradient(loss, size):
    """The witnesses of the proofs, here by the second derivative in floats."""
    if loss == "logistic":
        logit, h = math.atanh(0.56113), np.array([1.0, -1.0]) * size / math.sqrt(2)
    else:
        logit, h = -math.atanh(0.50403), np.array([10.0, -7.0]) / math.sqrt(149)
    found = bends(loss, np.array([logit, -logit]), h, size)[1]
    assert found == pytest.approx(stability.constants(loss, size, gradient=True)[0], rel=1e-5)


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0, 3.5323, 40.0])
def test_the_squared_constant_is_the_best_of_lemma_3_13(t):
    """Over all D and mu of heads of length 1, with r = t + mu + D/2."""

    def constant(angle):
        D, mu = math.sqrt(2) * math.cos(angle), math.sin(angle) / math.sqrt(2)
        return squared_gradient_constant(D, max(abs(t + mu) + D / 2, D / 2))

    near = max(np.linspace(-0.2, 1.2, 141), key=constant)
    best = max(map(constant, np.linspace(near - 0.01, near + 0.01, 41)))
    found = stability.constants("squared", t, gradient=True)[0]
    assert found == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("beta", [1e-3, 0.1, 0.7227, 2.0, 30.0])
def test_the_logistic_constant_is_near_that_of_lemma_3_13(beta):
    """Which leaves the level of h free."""
    found = stability.constants("logistic", beta, gradient=True)[0]
    above = softmax_gradient_constant(math.sqrt(2) * beta)
    assert 0.99 * above <= found <= above * (1 + 1e-12)


# crossings


@pytest.mark.parametrize(
    ("bracket", "below", "above", "place"),
    [
        (proofs.LOGISTIC, proofs.logistic_is_larger, proofs.logistic_is_smaller, 0.723),
        (proofs.SQUARED, proofs.squared_is_smaller, proofs.squared_is_larger, 3.532),
    ],
)
def test_brackets_have_three_digits_and_each_proof_goes_through_on_its_side_alone(
    bracket, below, above, place
):
    assert [below(end) for end in bracket] == [True, False]
    assert [above(end) for end in bracket] == [False, True]
    assert [round(float(end), 3) for end in bracket] == [place, place]


@pytest.mark.parametrize(
    ("loss", "above", "bracket"),
    [("logistic", False, proofs.LOGISTIC), ("squared", True, proofs.SQUARED)],
)
def test_softmax_leads_on_one_side_only(loss, above, bracket):
    middle = stability.crossing(loss, INF, True, 0.1, 10.0)
    assert float(bracket[0]) < middle < float(bracket[1])
    for size in np.geomspace(1e-2, 1e2, 41):
        softmax_, linear = stability.constants(loss, size, gradient=True)
        assert (softmax_ > linear) == ((size > middle) == above)


@pytest.mark.parametrize(
    ("coefficients", "positive"),
    [([1, 0, 1], True), ([1, 0, -4], False), ([-1, 0, -1], False), ([2, 1], True), ([0, 1], False)],
)
def test_a_polynomial_with_a_root_inside_is_not_positive(coefficients, positive):
    assert proofs.is_positive(fmpq_poly(coefficients)) is positive


def judged(statement, reading, case, **parameters):
    """The slack of a reading at an instance given by its values."""
    claim = statement.claim(reading)
    return claim.conclusion(claim.formula.build(**case), **parameters)


@pytest.mark.parametrize("share", [0.991, 0.995, 0.999])
def test_instances_within_a_hundredth_of_the_crossings_are_certified(share):
    """Below beta and above t softmax exceeds, on the other sides the same tokens do not."""
    beta, t = float(proofs.LOGISTIC[0]) / math.sqrt(2), float(proofs.SQUARED[1]) * math.sqrt(149)
    assert judged(logistic.STABILITY, "literal-4", logistic_entries.bent(beta * share)).violated
    assert judged(logistic.STABILITY, "literal-4", logistic_entries.bent(beta * (2 - share))).holds
    assert judged(l2.STABILITY, "literal-4", squared_entries.bent(t * (2 - share))).violated
    assert judged(l2.STABILITY, "literal-4", squared_entries.bent(t * share)).holds


def test_no_certificate_bounds_the_heights_beyond_the_thresholds(monkeypatch):
    """There the largest height is above the constant, so that no search can find one."""
    steepest = math.sqrt(2) / 0.7227
    monkeypatch.setattr(gradients, "STEEPEST", as_term(round(1e6 * steepest)) / 1_000_000)
    monkeypatch.setattr(gradients, "SHARE", as_term(3533) / 1000)
    for prove in (gradients.logistic_over_norms, gradients.squared_over_norms):
        with proof(), pytest.raises(ProofError, match="no certificate shows"):
            prove()


def test_a_proof_breaks_where_a_constant_is_of_first_order_in_b(monkeypatch):
    monkeypatch.setattr(shared, "linear_constant", lambda m, size, of: size)
    with pytest.raises(ProofError, match="linear attention's loss exceeds the constant"):
        proofs.prove_logistic()


# bounded domains


def test_the_domain_matters_only_where_it_leaves_the_extremal_tokens_out():
    for loss, radius in (("logistic", 1.823), ("squared", 0.785)):
        whole = stability.crossing(loss, INF, True, 0.1, 10.0)
        assert stability.crossing(loss, radius, True, 0.1, 10.0) == pytest.approx(whole, rel=1e-6)
        assert stability.crossing(loss, 0.9 * radius, True, 0.1, 10.0) > 1.001 * whole


@pytest.mark.parametrize("radius", [0.01, 0.5, 4.0, INF])
@pytest.mark.parametrize("beta", [0.01, 1.0, 50.0])
def test_the_logistic_loss_has_half_of_linear_attention_s_constant(beta, radius):
    softmax_, linear = stability.constants("logistic", beta, radius)
    assert softmax_ == pytest.approx(linear / 2, rel=1e-9)


@pytest.mark.parametrize("t", [0.0, 0.5, 4.0, 1e4])
def test_the_squared_loss_has_at_most_half_from_radius_one_on(t):
    for radius in (1.0, 4.0):
        softmax_, linear = stability.constants("squared", t, radius)
        assert softmax_ <= linear / 2
    assert t < 1e4 or softmax_ > 0.4995 * linear
    near_zero = stability.constants("squared", t, 0.1)
    assert (near_zero[0] > near_zero[1]) == (t == 0.0)


@pytest.mark.parametrize(("size", "radius"), [(0.3, 2.0), (0.7, 1.0), (2.0, 4.0), (5.0, 0.1)])
def test_linear_attention_s_constants_are_what_a_scan_finds(size, radius):
    u = np.linspace(-radius, radius, 20001)
    curved = np.abs(logistic_curvature(size * u)).max() * size**2
    assert stability.constants("logistic", size, radius, True)[1] == pytest.approx(curved, rel=1e-6)
    steep = np.abs(2 * (u + size)).max()
    assert stability.constants("squared", size, radius)[1] == pytest.approx(steep)
    assert stability.constants("squared", size, radius, True)[1] == 2.0


def test_there_is_no_crossing_where_one_side_leads_throughout():
    assert math.isnan(stability.crossing("squared", 4.0, False, 1e-3, 1e4))


# the readings


@given(l2.STABILITY.claim("literal-2").data)
def test_the_gradient_of_the_squared_loss_is_its_derivative(case):
    v = l2.STABILITY.claim("literal-2").formula.exact(case)
    with ctx.workprec(200):
        closed = squared_gradient(BALLS, v.A, v.x, v.h, v.b)
        known = gradient(BALLS, lambda m, x: squared_loss(m, v.A, x, v.h, v.b), v.x)
        assert all(abs(arb(gap)) < 1e-30 for gap in (closed - known).ravel())


@pytest.mark.parametrize(
    ("statement", "data"), [(s, d) for s in (logistic, l2) for d in ("same", "norms")]
)
def test_linear_attention_never_exceeds_its_constant(statement, data):
    claim = statement.STABILITY.claim("literal-1")
    cases = drawn(claim.data, 60)
    met = [case for case in cases if all(h.holds(case) for h in claim.hypotheses)]
    assert len(met) > 30
    for case in met:
        assert not claim.conclusion(case, attention="linear", data=data).violated


@pytest.mark.parametrize("tokens", [(1, 0), (3, -2)])
def test_a_head_that_cancels_the_tokens_leaves_linear_attention_nothing(tokens):
    case = {
        **squared_entries.CONSTANT_LINEAR,
        "A": [[a] for a in tokens],
        "h": [-tokens[1], tokens[0]],
    }
    assert judged(l2.STABILITY, "literal-2", case).violated
    assert judged(logistic.STABILITY, "literal-2", {**case, "b": 1}).violated


def test_the_example_that_attains_the_constant_lies_on_the_edge_of_the_hypothesis():
    """It has ||A^T h|| = osc(h) diam(A)/4; one of a smaller ||A^T h|| is not admitted."""
    claim = logistic.STABILITY.claim("amended-2")
    (condition,) = claim.hypotheses
    assert condition.holds(claim.examples[0])
    assert not condition.holds(claim.formula.build(**logistic_entries.wide(Fraction(-129, 128))))
    assert claim.conclusion(claim.examples[0]).holds
    assert claim.conclusion(claim.examples[0], tightened="0.999").violated


def test_a_condition_down_to_a_4_2th_of_the_product_is_not_enough():
    """Each instance meets the looser condition of the sibling only, and refutes."""
    claim = logistic.STABILITY.claim("amended-2")
    (loose,) = claim.part("down to osc(h) diam(A)/4.2").hypotheses
    (condition,) = claim.hypotheses
    for k in (1, 24, 26):
        case = claim.formula.build(**logistic_entries.wide(-1 - Fraction(k, 512)))
        assert loose.holds(case)
        assert not condition.holds(case)
        assert claim.conclusion(case).violated


@pytest.mark.parametrize(
    ("claim", "name", "edge", "way", "both"),
    [
        (
            logistic.STABILITY.claim("sharp-3"),
            "b",
            0.72259 / math.sqrt(2),
            -1,
            lambda size: [{"b": size}, {"b": -size}],
        ),
        (
            l2.STABILITY.claim("sharp-3"),
            "size",
            3.5331 * math.sqrt(149),
            1,
            lambda size: [{"sign": sign, "size": size} for sign in squared_entries.SIGNS],
        ),
    ],
)
def test_what_fails_for_every_label_is_shown_in_all_octaves(claim, name, edge, way, both):
    (condition,) = (h for h in claim.hypotheses if "||h||" in h.name)
    for size in edge * 2.0 ** (way * np.arange(0.0, 8.0, 0.25)):
        labels = set()
        for values in both(float(size)):
            case = claim.formula.build(**values)
            assert condition.holds(case)
            assert claim.conclusion(case).holds
            labels.add(float(claim.formula.exact(case).b))
        assert labels == {size, -size}
    octaves = [
        way * math.log2(abs(getattr(case, name)) / edge) % 1.0
        for case in drawn(claim.data, 200)
        if condition.holds(case)
    ]
    assert len(octaves) > 100
    assert np.histogram(octaves, 4, (0.0, 1.0))[0].min() > 5


# the picture


@pytest.fixture(scope="module")
def redrawn():
    """The figure with every third radius of its borders below 4, each of which takes a search."""
    radii = stability.RADII
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stability, "RADII", np.union1d(radii[::3], radii[radii >= 4.0]))
        numbers = stability.figure.compute(0)
        yield numbers, stability.picture(numbers)


def test_the_picture_shows_the_proved_crossings(redrawn):
    numbers, picture = redrawn
    table = numbers.tables["crossings"]
    for middle, (low, high) in zip(table["middle"], (proofs.LOGISTIC, proofs.SQUARED), strict=True):
        assert float(low) < middle < float(high)
    dots = [
        tuple(map(float, line.get_xydata()[0]))
        for axes in picture.axes
        for line in axes.get_lines()
        if line.get_marker() == "o"
    ]
    assert dots == [(x, 1.0) for x in table["middle"]]


def test_ratios_are_on_the_proved_side_of_one(redrawn):
    rows = redrawn[0].tables["ratios"]
    np.testing.assert_allclose(rows["ratio"], rows["softmax"] / rows["linear"])
    loss = rows.where(constant="loss")
    assert (loss["ratio"] <= 0.5 + 1e-12).all()
    assert len(loss) == 3 * 61
    for name, (low, high) in (("logistic", proofs.LOGISTIC), ("squared", proofs.SQUARED)):
        own = rows.where(loss=name, constant="gradient")
        larger = own["size"] < float(low) if name == "logistic" else own["size"] > float(high)
        assert larger.any()
        assert not larger.all()
        assert ((own["ratio"] > 1.0) == larger).all()


def test_borders_are_level_in_the_domain_of_lemma_3_13(redrawn):
    rows = redrawn[0].tables["regimes"]
    for name, (low, high) in (("logistic", proofs.LOGISTIC), ("squared", proofs.SQUARED)):
        own = rows.where(loss=name, constant="gradient")
        wide = own["size"][own["R"] >= 4.0]
        assert len(wide) > 5
        assert ((wide > float(low)) & (wide < float(high))).all()
        assert (np.diff(own["size"]) <= 1e-9).all()
    loss = rows.where(loss="squared", constant="loss")
    assert np.isnan(loss["size"][loss["R"] >= 0.22]).all()
    assert np.isfinite(loss["size"][loss["R"] <= 0.17]).all()


def test_every_number_that_is_drawn_is_in_the_tables(redrawn):
    numbers, picture = redrawn
    known = {x for t in numbers.tables.values() for c in t.columns.values() for x in c.tolist()}
    long = [line for axes in picture.axes for line in axes.get_lines() if len(line.get_xdata()) > 4]
    assert len(long) == 8
    for line in long:
        assert {x for x in line.get_xydata().ravel().tolist() if math.isfinite(x)} <= known

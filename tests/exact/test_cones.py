"""Cones: bounds that hold at points of the set and that some point attains, and runs from them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.exact import ExactData, cone_at, dot, rational, rationals, separate, softmax
from attsvm.exact.attention import logits, loss_slope
from attsvm.exact.cones import Bounds, Frame, bounds, largest_at_start
from attsvm.exact.descent import gradient
from attsvm.exact.numbers import combine
from attsvm.exact.traps import Selection
from attsvm.limits import residual_stays_bounded
from attsvm.training import descend_w, follow_w
from tests.exact.digits import DECREASING
from tests.exact.local_runs import LOG, STEPS, drawn, floats, plane, selected, starts

BITS = 192


def flat(matrix):
    return [x for row in matrix for x in row]


def frame_of(data, sigma, E=None, tokens=None):
    """The frame of sigma W* + E for these tokens, the first ones by default, E across W*."""
    exact, tokens = ExactData.of(data), tokens or [0] * data.n
    answer = separate(exact, tokens)
    E = E or [[fmpq(0)] * data.d] * data.d
    W = [
        [sigma * w + e for w, e in zip(a, b, strict=True)] for a, b in zip(answer.W, E, strict=True)
    ]
    selection = Selection.at(exact, W)
    assert selection.tokens == tokens
    return Frame.at(exact, selection, answer, W)


@dataclass
class Point:
    """A point of a set, and what the proof speaks of there."""

    frame: Frame
    loss: str
    step: fmpq
    normalised: bool
    sigma: fmpq
    E: list

    def __post_init__(self):
        frame, data, answer = self.frame, self.frame.data, self.frame.answer
        rows = zip(answer.W, self.E, strict=True)
        W = [[self.sigma * w + e for w, e in zip(a, b, strict=True)] for a, b in rows]
        star, E = flat(answer.W), flat(self.E)
        assert dot(star, E) == 0
        self.N = arb(answer.square).sqrt()
        self.scale = (-arb(self.sigma)).exp()  # exp(-a/N)
        self.p, self.margin, A = [], [], []
        for i, t in frame.selection.pairs:
            values, gamma = logits(data.X[i], W, data.Z[i]), data.gamma[i]
            s = softmax(values)
            lead = dot(s, [arb(g - gamma[t]) for g in gamma])
            slope = loss_slope(self.loss, gamma[t] + lead)
            self.p.append(-slope * s[t] * lead / len(data.X))
            self.margin.append(values[frame.selection.tokens[i]] - values[t])
            A.append([x * z for x in frame.selection.gap[i, t] for z in data.Z[i]])
        self.e = [dot(a, E) for a in A]
        cross = [
            [x - m / answer.square * w for x, w in zip(a, star, strict=True)]
            for a, m in zip(A, answer.margins, strict=True)
        ]
        down, away = combine(self.p, A), combine(self.p, cross)
        if self.sigma < 32:
            other = [-g for g in flat(gradient(data, W, self.loss))]
            assert all(x.overlaps(arb(y)) for x, y in zip(other, down, strict=True))
        self.forward = dot(self.p, answer.margins) / self.N  # <-grad L, u>
        self.turn = dot(self.p, self.e)
        self.across, self.size = (arb(dot(x, x)).upper().sqrt() for x in (away, down))
        length = arb(self.step)
        if self.normalised:
            length = length / self.size
        self.moved = length * self.forward
        self.widened = 2 * length * self.turn + length * length * self.across * self.across
        lead = [frame.selection.lead[pair] for pair in frame.selection.pairs]
        self.minor = [j for j, x in enumerate(lead) if x <= 0]
        good = [j for j in range(len(lead)) if j not in self.minor]
        self.total = sum((self.p[j] * answer.margins[j] for j in good), arb(0))

    def attained(self, found: Bounds, Q: arb) -> dict[str, arb]:
        """Each quantity over what is said to be the most of it; 0 where both are."""
        room = self.total * (1 - found.excess) / self.N
        found_room = 1 - found.excess
        ratios = {
            "total": self.over(found.total * self.scale, self.total),
            "forward": self.over(room, self.forward),
            "turn": self.over(self.turn, self.N * self.forward * found.turn / found_room),
            "across": self.over(self.across, self.N * self.forward * found.across),
            "advance": self.over(self.moved, found.advance),
            "spread": self.over(self.widened, found.spread * self.moved),
        }
        for j in self.minor:
            most = found.minor[j] * self.total
            ratios[f"minor {j}"] = self.over(abs(self.p[j]), most)
            turn = most * self.frame.reach[j] * Q
            ratios[f"minor turn {j}"] = self.over(abs(self.p[j] * self.e[j]), turn)
        return ratios

    def over(self, left, right):
        if right == 0:
            return arb(0) if left <= self.size / 2**100 else arb("inf")
        return left / right


SLACK = 1 + fmpq(1, 2**60)


def holds(point: Point, found: Bounds, Q: arb) -> dict[str, arb]:
    for j, enclosure in enumerate(found.weight):
        assert enclosure.overlaps(point.p[j] * arb(point.margin[j]).exp())
    ratios = point.attained(found, Q)
    for name, ratio in ratios.items():
        assert ratio <= SLACK, (name, ratio)
    assert point.forward > 0
    return ratios


def bounded(square, E):
    """E scaled to a size just below the root of `square`, by a rational factor."""
    size = dot(flat(E), flat(E))
    if size == 0:
        return E
    factor = rational(float((square / size).sqrt()) * (1 - 2.0**-40))
    return [[factor * x for x in row] for row in E]


def directions(frame, generator):
    """Across W*: at random, and towards and against each constraint."""
    star = np.array([[float(arb(w)) for w in row] for row in frame.answer.W])
    yield rationals(generator.integers(-8, 9, size=star.shape) / 8)
    for i, t in frame.selection.pairs:
        A = [[x * z for z in frame.data.Z[i]] for x in frame.selection.gap[i, t]]
        yield A
        yield [[-x for x in row] for row in A]


def points(frame, generator, sigma, square, loss, step, normalised):
    for raw in directions(frame, generator):
        share = dot(flat(raw), flat(frame.answer.W)) / frame.answer.square
        across = [
            [x - share * w for x, w in zip(a, b, strict=True)]
            for a, b in zip(raw, frame.answer.W, strict=True)
        ]
        for part in (fmpq(1), fmpq(1, 4)):
            yield Point(frame, loss, step, normalised, sigma, bounded(part * part * square, across))


def frames(limit):
    """Frames with a loss, a kind of steps and their size."""
    for seed, data, tokens, _, generator in drawn(limit):
        if seed % 3:
            sigma = fmpq(int(generator.choice([3, 8, 24, 96])))
            step = fmpq(int(generator.choice([1, 64, 4096])), 64)
            for frame in frame_of(data, sigma, tokens=tokens).frames:
                yield sigma, frame, generator, DECREASING[seed % 4], step, seed % 5 == 0


def test_bounds_hold_at_the_tip_of_every_set_closed_or_not():
    checked, minor, large, leaning = 0, 0, 0, 0
    for sigma, frame, generator, loss, step, normalised in frames(75):
        for Q in frame.widths()[::12]:
            found = bounds(frame, Q, loss, step, normalised=normalised)
            if found is None:
                continue
            for point in points(frame, generator, sigma, Q * Q, loss, step, normalised):
                holds(point, found, Q)
                checked += 1
                minor += bool(point.minor)
                leaning += any(frame.anchors[j][1] < frame.reach[j] for j in point.minor)
                large += sum(float(x) for x in point.e) != 0 and sigma < 10
    assert checked >= 250
    assert minor >= 60
    assert leaning >= 20
    assert large >= 30


def test_bounds_hold_in_all_of_a_closed_cone():
    checked = 0
    for sigma, frame, generator, loss, step, normalised in frames(75):
        W = [[sigma * w for w in row] for row in frame.answer.W]
        cone = cone_at(frame.data, W, loss, step, normalised=normalised)
        if cone is None:
            continue
        each = [bounds(f, cone.width, loss, step, normalised=normalised) for f in frame.frames]
        (found, *_) = (b for b in each if b and b.spread == cone.spread)
        for further in (fmpq(1, 64), fmpq(1), fmpq(16), fmpq(256)):
            square = cone.width**2 + cone.spread * further * frame.norm
            for point in points(frame, generator, sigma + further, square, loss, step, normalised):
                holds(point, found, cone.width)
                checked += 1
    assert checked >= 250


def attained(data, sigma, Q, E, step, loss="correlation", normalised=False):
    """What a point at the tip attains of the bounds; E is a column."""
    frame = frame_of(data, fmpq(sigma))
    width = arb(Q)
    assert dot(E, E) <= fmpq(Q) ** 2
    found = bounds(frame, width, loss, step, normalised=normalised)
    matrix = [[rational(x), fmpq(0)] for x in E]
    return holds(Point(frame, loss, step, normalised, fmpq(sigma), matrix), found, width), found


SMALL, NEAR = fmpq(1, 2**20), 1.0 + 2.0**-6


def test_a_good_token_hardly_beyond_the_margin_attains_what_turns():
    """<A_j, E> = 1 there, where x exp(-x) is largest; N = 1/2."""
    data = plane([(2.0, 0.0), (2.0 * NEAR, 4.0)], scores=[[0.0, -1.0, -(2.0**-10)]])
    ratios, _ = attained(data, 40, fmpq(1, 2), [fmpq(0), fmpq(1, 4)], SMALL)
    assert ratios["turn"] >= 0.99
    assert ratios["spread"] >= 0.99
    assert ratios["total"] >= 0.99


def test_a_token_at_the_margin_counts_with_its_most_weight_beside_one_that_does_not_turn():
    """The tip is so near that the weight of the second, which has no multiplier, is not known.

    Far from there it is 1, and <A_j, E> = 1 for it alone: x exp(-x) is largest.
    """
    data = plane([(2.0, 0.0), (2.0, 4.0)], scores=[[0.0, -64.0, -1.0]])
    frame, Q = frame_of(data, fmpq(8)), arb(1)
    assert (frame.answer.duals, frame.reach[0]) == ([fmpq(1, 4), fmpq(0)], 0)
    found = bounds(frame, Q, "correlation", SMALL)
    assert found.weight[1].lower() < 0.95
    E = [[fmpq(0)] * 2, [fmpq(1, 4), fmpq(0)]]
    for sigma in (8, 9, 16):
        ratios = holds(Point(frame, "correlation", SMALL, False, fmpq(sigma), E), found, Q)
    assert ratios["turn"] >= 0.97


def test_a_good_token_of_great_weight_attains_what_goes_across_and_the_step():
    data = plane([(2.0, 0.0), (2.0 * NEAR, 4.0)], scores=[[0.0, -(2.0**-10), -(2.0**10)]])
    step = fmpq(2) ** 100
    ratios, _ = attained(data, 40, fmpq(1, 2**10), [fmpq(0), fmpq(0)], step)
    assert ratios["across"] >= 0.99
    assert ratios["advance"] >= 0.99
    assert ratios["spread"] >= 0.99
    # of given length, all of it along u but for what goes across
    ratios, found = attained(
        plane([(2.0, 0.0), (8.0, 0.25)], scores=[[0.0, -1.0, -1.0]]),
        40, fmpq(1, 2**10), [fmpq(0), fmpq(0)], fmpq(3), normalised=True,
    )  # fmt: skip
    assert found.advance == 3
    assert ratios["advance"] >= 0.99


def test_a_better_token_beyond_the_margin_attains_what_turns_w_back():
    """At the tip <A_j, E> = -r_j Q; the better token takes about half of the gradient."""
    data = plane([(2.0, 0.0), (3.0, 4.0)], scores=[[0.0, -1.0, 4.0]])
    Q = fmpq(25, 8)  # r Q = 12.5, and 6 exp(12.5 - 15) = 0.49
    ratios, found = attained(data, 30, Q, [fmpq(0), -Q], SMALL)
    assert 0.4 < float(found.excess) < 0.6
    for name in ("total", "forward", "turn", "across", "spread", "minor 1", "minor turn 1"):
        assert ratios[name] >= 0.99, name
    assert ratios["advance"] >= 0.3
    # at <A_j, E> = r_j Q it takes nothing, and the step is as long as if it were not there
    ratios, _ = attained(data, 30, Q, [fmpq(0), Q], SMALL)
    assert ratios["advance"] >= 0.6


def test_weights_that_lean_are_attained_where_support_tokens_are_as_near_as_they_weigh():
    """Margins 1, 1 and 3/2, across W* 1, -1 and 4: mu = (7/8, 1/8) is across by 3/4.

    At e = (-1, 1, -4) the first two coefficients are as 7 to 1 where weights are as 1 to exp(2)/7.
    """
    data = plane([(2.0, 1.0), (2.0, -1.0), (3.0, 4.0)], scores=[[0.0, -1.0, -1.0556, 4.0]])
    exact = ExactData.of(data)
    answer = separate(exact, [0])
    start = [[60 * w for w in row] for row in answer.W]
    plain, leaning = Frame.at(exact, Selection.at(exact, start), answer, start).frames
    (mu, apart), old = leaning.anchors[2], plain.anchors[2]
    assert (mu, apart, old[1]) == ([fmpq(7, 8), fmpq(1, 8), fmpq(0)], fmpq(13, 4), 4)
    E, Q = [[fmpq(0), fmpq(0)], [fmpq(-1), fmpq(0)]], arb(1)
    for frame, least, most in ((leaning, 0.999, 1.001), (plain, 0.4, 0.9)):
        point = Point(frame, "correlation", SMALL, False, fmpq(60), E)
        ratios = holds(point, bounds(frame, Q, "correlation", SMALL), Q)
        for name in ("minor 2", "minor turn 2"):
            assert least <= float(ratios[name]) <= most, name


def test_weights_do_not_lean_where_that_is_farther():
    """A better token far from both of two support tokens, on the axis between them."""
    data = plane([(2.0, 1.0), (2.0, -1.0), (3.0, 0.0)], scores=[[0.0, -1.0, -1.0, 4.0]])
    plain, leaning = frame_of(data, fmpq(60)).frames
    assert plain.anchors == leaning.anchors


def test_a_tie_beyond_the_margin_has_a_coefficient_by_what_is_missing():
    data = plane([(2.0, 0.0), (3.0, 4.0)], scores=[[0.0, -3.0, 0.0]])
    Q = fmpq(5)  # r Q = 20 and a (g_2 + m_1)/N = 45
    ratios, found = attained(data, 30, Q, [fmpq(0), -Q], SMALL)
    for name in ("turn", "minor 1", "minor turn 1", "spread"):
        assert ratios[name] >= 0.99, name
    assert found.turn > 0


def test_weighted_means_attain_the_least_sum():
    """Multipliers 1/4 and 1, weights 1/2 and 2: least where weight exp(-e) is as multiplier."""
    data = plane([(2.0, 0.0)], [(0.0, 1.0)], scores=[[0.0, -1.0], [0.0, -16.0]])
    frame = frame_of(data, fmpq(40))
    assert frame.answer.duals == [fmpq(1, 4), fmpq(1)]
    # e = (2 x, -x/2) with 2 x + x/2 = ln((1/2)/(1/4)) - ln(8/1)
    x = rational(float((arb(2).log() - arb(8).log()) / fmpq(5, 2)))
    ratios, _ = attained(data, 40, fmpq(1), [x, -x / 2], SMALL)
    assert ratios["total"] >= 0.999
    elsewhere, _ = attained(data, 40, fmpq(1), [fmpq(0), fmpq(0)], SMALL)
    assert elsewhere["total"] <= 0.9


@pytest.mark.parametrize(("power", "x"), [(8, -1), (16, -3), (64, -15)])
def test_what_turns_grows_like_the_logarithm_of_how_uneven_support_tokens_are(power, x):
    """Multipliers 1/4 and 1, weights 1 and 2^power; e = (2 x, -x/2), near the worst x."""
    data = plane([(2.0, 0.0)], [(0.0, 1.0)], scores=[[0.0, -1.0], [0.0, -(2.0**power)]])
    ratios, found = attained(data, 60, fmpq(20), [fmpq(x), -fmpq(x, 2)], SMALL)
    assert found.turn < power / 4
    assert ratios["turn"] >= 0.6


@given(*[st.integers(1, 64)] * 4, st.sampled_from([0, 1, 64]), st.booleans())
def test_exponents_fall_from_the_tip_on_exactly_where_a_cone_narrows(r, c, Q, scale, extra, more):
    """-a c + r ||E|| + extra ln ||E|| on ||E||^2 = Q^2 + B a, just where B is allowed or not."""
    c, Q = fmpq(c, scale), fmpq(Q, 8)
    slope = r + extra / Q
    for factor, allowed in ((fmpq(99, 100), True), (fmpq(101, 100), False)):
        B = factor * 2 * Q * c / slope
        bends = [(arb(slope), arb(c)), *([(arb(slope) / 2, arb(c))] if more else [])]
        assert largest_at_start(bends, arb(Q), arb(B)) is allowed
        assert largest_at_start(bends[::-1], arb(Q), arb(B)) is allowed

        def value(a, B=B):
            size = (arb(Q) ** 2 + B * a).sqrt()
            return -a * c + r * size + extra * size.log()

        step = Q * Q / B / 2**16
        assert (value(step) < value(fmpq(0))) is allowed
        if allowed:
            grid = [value(step * 4**k) for k in range(16)]
            assert all(b < a for a, b in pairwise(grid))


def test_all_exponents_are_asked_to_narrow():
    """Those of the margins, and those of the better and tied tokens with 1/Q for the factor e_j."""
    data = plane(
        [(2.0, 0.0), (3.0, 4.0), (4.0, 1.0), (5.0, 2.0)], scores=[[0.0, -1.0, 4.0, 0.0, -2.0]]
    )
    frame, Q = frame_of(data, fmpq(40)), arb(2)
    found = bounds(frame, Q, "correlation", SMALL)
    assert [f for f, _, _ in frame.minor(2)] == [1, 4, 2]  # sizes of the leads over the others
    N = fmpq(1, 2)
    plain = [(0, 1), (4, fmpq(3, 2)), (1, 2), (2, fmpq(5, 2))]
    minor = [(4, fmpq(1, 2))]  # the better token
    minor += [(1 + r, 1 + m) for r, m in (plain[0], plain[1], plain[3])]  # the tie with the others
    wanted = [(arb(r), m / N) for r, m in plain] + [(r + 1 / Q, c / N) for r, c in minor]
    assert len(found.bends) == len(wanted)
    for r, c in wanted:
        assert any(abs(r - x) < 1e-30 and abs(c - y) < 1e-30 for x, y in found.bends)


@pytest.mark.parametrize("k", [6, 11, 12, 13, 24, 40])
def test_starts_on_the_ray_close_however_near_better_tokens_are_to_the_margin(k):
    """Margins 1 and 1 + 2^-k: the width that is left is 2^-k of the distance."""
    data = plane([(1.0, 0.0), (1.0 + 2.0**-k, -1.0)], scores=[[0.0, -1.0, 1.0]])
    exact = ExactData.of(data)
    for more in (5, 8, 30):
        cone = cone_at(exact, [[fmpq(2) ** (k + more), fmpq(0)], [fmpq(0)] * 2], "log-loss", SMALL)
        assert cone is not None
        assert cone.width < cone.along / 2**k
    near = [[fmpq(2) ** (k + 8), fmpq(0)], [fmpq(2) ** 8 * fmpq(7, 8), fmpq(0)]]
    assert cone_at(exact, near, "log-loss", SMALL).width >= near[1][0]
    near[1][0] = fmpq(2) ** 8
    assert cone_at(exact, near, "log-loss", SMALL) is None


def test_widths_stay_between_the_point_and_the_rim():
    data = plane([(2.0, 0.0), (3.0, 4.0)], scores=[[0.0, -1.0, 4.0]])
    # a (g/N)/r = sigma (1/2)/4
    for x in (fmpq(0), fmpq(1), fmpq(-4), fmpq(99, 20)):
        widths = frame_of(data, fmpq(40), [[fmpq(0)] * 2, [x, fmpq(0)]]).widths()
        assert all(abs(x) <= Q < 5 and Q > 0 for Q in widths)
        assert len(widths) >= 12
        assert min(widths) <= abs(x) + (5 - abs(x)) / 256 * (1 + fmpq(1, 2**20))
        assert max(widths) >= abs(x) + (5 - abs(x)) * fmpq(31, 32)
    assert not frame_of(data, fmpq(40), [[fmpq(0)] * 2, [fmpq(6), fmpq(0)]]).widths()
    # worse tokens: a (m/N)/r = sigma (3/2)/4
    worse = frame_of(plane([(2.0, 0.0), (3.0, 4.0)], scores=[[0.0, -1.0, -4.0]]), fmpq(40))
    assert 14 < max(worse.widths()) < 15
    ball = [[fmpq(0)] * 2, [arb(-3, 1), fmpq(0)]]
    assert frame_of(data, fmpq(40), ball).residual >= 4  # of every point of an enclosure
    line = frame_of(plane([(2.0, 0.0)], scores=[[0.0, -1.0]]), fmpq(40))
    assert line.reach == [0]
    assert line.widths() == [20]


def test_a_weight_of_no_sign_bounds_nothing():
    """A token a little worse than the first, while more than that is missing."""
    data = plane([(2.0, 0.0), (4.0, 0.25)], scores=[[0.0, -1.0, -(2.0**-10)]])
    for sigma, known in ((2, False), (16, True)):
        frame = frame_of(data, fmpq(sigma))
        assert (bounds(frame, arb(1) / 64, "correlation", SMALL) is not None) is known
        point = Point(frame, "correlation", SMALL, False, fmpq(sigma), [[fmpq(0)] * 2] * 2)
        assert (point.p[1] > 0) is known


def test_a_set_in_which_one_token_comes_to_lead_has_no_bounds():
    """The margin over the first worse token does not turn with E, that over the second one does."""
    frame = frame_of(plane([(2.0, 0.0), (3.0, 4.0)], scores=[[0.0, -1.0, -4.0]]), fmpq(40))
    assert bounds(frame, arb(1), "correlation", SMALL) is not None
    assert bounds(frame, arb(1000), "correlation", SMALL) is None


def cones(limit: int, name: str = "log-loss"):
    for number, (data, exact, W, generator) in enumerate(starts(limit)):
        step, normalised = STEPS[number % 3]
        cone = cone_at(exact, rationals(W), name, rational(step), normalised=normalised)
        if cone is not None:
            yield data, W, step, normalised, cone, generator


def room(cone, W):
    """How far W lies inside a cone: what a exceeds a_0 by, and what is left for ||E||^2."""
    u = floats(cone.limit.W)
    u = u / np.linalg.norm(u)
    a = float((W * u).sum())
    E = W - a * u
    start, width, spread = (float(x) for x in (cone.along, cone.width, cone.spread))
    return a - start, width**2 + spread * (a - start) - float((E**2).sum())


def test_runs_from_proved_cones_keep_their_tokens_and_converge_to_the_local_solution():
    proved, locally = 0, 0
    for data, W, step, normalised, cone, _ in cones(60):
        record = [*range(0, 40, 4), 400]
        run = descend_w(
            [data], W, LOG, step=step, steps=400, record=record, normalised=normalised
        ).W[0]
        assert selected(data, run) == [cone.selected] * len(run)
        assert all(min(room(cone, point)) >= -1e-6 for point in run)
        limit = floats(cone.limit.W)
        norms = (np.linalg.norm(W) * np.array([2.0, 20.0, 200.0])).tolist()
        far = follow_w(data, W, LOG, [*norms, max(1e4, 2 * norms[-1])], steps=4000).W[0]
        assert selected(data, far) == [cone.selected] * len(far)
        slack = residual_stays_bounded(
            data, far[1:4], LOG, limit, degenerate=bool(cone.limit.degenerate)
        )
        assert not slack.violated
        proved += slack.holds
        locally += cone.selected != data.gamma.argmax(axis=1).tolist()
    assert proved >= 24
    assert locally >= 5

"""Coincidences: what is brought to a batch, where it stays out, and what falls in a check."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_pack import stated

from attsvm import Integer, Matrix, Real, Vector, question
from attsvm.theory import changed
from attsvm.theory.arithmetic import FLOATS, lanes
from attsvm.theory.arithmetic.heights import TOUCHED, heights, seen
from attsvm.theory.declaration import batches
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.search import coincidences
from attsvm.theory.search.batch_moves import closest
from attsvm.theory.search.coincidences import SPECIAL, coincide, named_constants
from attsvm.theory.search.relations import Domain
from benchmarks.power.measure import PACK, quick
from benchmarks.power.planting import PLANTED
from tests.searching import few, nightly
from tests.theory.search.scouting import QUICK, from_nothing, share

load_packs([PACK])

LANES = 2048

VECTORS = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n)] * 2)
)


def made(make, u, w):
    """One matrix of integers."""
    found = make(np.array(u, dtype=float)[:, None], np.array(w, dtype=float)[:, None])[..., 0]
    assert (found == np.rint(found)).all()
    return found


@given(VECTORS)
def test_special_matrices_have_their_properties_exactly(vectors):
    u, w = (np.array(x, dtype=float) for x in vectors)
    identity = np.eye(len(u))
    R = made(coincidences.reflection, u, w)
    assert ((u @ u) ** 2 * identity == R @ R.T).all()
    N, P = made(coincidences.nilpotent, u, w), made(coincidences.projection, u, w)
    assert (N @ N == 0).all()
    assert ((u @ w) * P == P @ P).all()
    S, K = made(coincidences.symmetric, u, w), made(coincidences.skew, u, w)
    assert (S == S.T).all()
    assert (K == -K.T).all()
    C, shift = made(coincidences.shifted, u, w), np.roll(identity, 1, axis=0)
    assert (C @ shift == shift @ C).all()
    M = made(coincidences.multiple_of_identity, u, w)
    assert np.linalg.matrix_rank(M - w[0] * identity) <= 1


def test_every_special_matrix_has_lanes_without_an_entry_0():
    u, w = np.random.default_rng(0).integers(-4, 5, size=(2, 3, 4000)).astype(float)
    assert all((make(u, w) != 0).all(axis=(0, 1)).any() for make in SPECIAL[:-1] if make != SKEW)


SKEW = coincidences.skew


def brought(arrays, domains, named=(), seed=0, laps=20):
    """Batches of random numbers after `coincide`, as one."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(laps):
        batch = {n: generator.random((*shape, LANES)) for n, shape in arrays.items()}
        coincide(batch, domains, np.array(named, dtype=float), generator)
        found.append(batch)
    return {name: np.concatenate([b[name] for b in found], axis=-1) for name in arrays}


def test_an_array_becomes_a_combination_of_others():
    found = brought({"A": (2, 2), "B": (2, 2), "a": (3,), "b": (3,)}, dict.fromkeys("ABab", FREE))
    a, b, A, B = (found[name] for name in "abAB")
    random = ((b != 0) & (b != np.rint(b))).all(axis=0)
    for factor in (1.0, -1.0, 2.0, 0.5):
        assert (random & (a == factor * b).all(axis=0)).any()
    assert (random & (a == b + 1.0).all(axis=0)).any()
    off = (A[0, 1] == B[0, 1]) & (A[1, 0] == B[1, 0])
    assert (off & (A[0, 0] == B[0, 0] + 1.0) & (A[1, 1] == B[1, 1] + 1.0)).any()


FREE = Domain()


def test_a_constant_stands_in_an_entry_or_everywhere():
    found = brought({"a": (3,), "x": ()}, dict.fromkeys("ax", FREE), named=[1001.7])
    hits = abs(found["a"]) == 1001.7
    assert (hits.sum(axis=0) == 1).any()
    assert hits.all(axis=0).any()
    assert (found["x"] == -1001.7).any()
    assert (found["x"] == 1 / 1001.7).any()


def test_nothing_leaves_its_domain_and_other_arrays_stay():
    domains = {"k": Domain(whole=True, low=1, high=30), "x": Domain(low=0), "a": Domain(high=2)}
    shapes = {"k": (), "x": (), "a": (2,), "b": (2,), "M": (2, 2)}
    found = brought(shapes, domains, named=[17.5, -40.0])
    free = found["k"] != np.rint(found["k"])  # as it was
    assert 0 < np.mean(free) < 1
    assert 1 <= found["k"][~free].min() <= found["k"].max() <= 30
    assert found["x"].min() >= 0
    assert found["x"].max() > 1
    assert found["a"].max() <= 2
    for name in "bM":  # have no domain
        assert found[name].min() > 0
        assert found[name].max() < 1


def test_equal_seeds_bring_equal_coincidences_and_nothing_needs_no_array():
    one, other = (brought({"A": (2, 2), "x": ()}, {"A": FREE, "x": FREE}, [7.0]) for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    coincide({}, {}, np.array([1.0]), np.random.default_rng(0))


def test_constants_of_conclusion_hypotheses_and_reading_are_noted():
    claim = stated(
        "constants",
        {"n": Integer(1, 3), "a": Vector("n"), "x": Real()},
        lambda m, v, c: m.at_most(v.x * m.exact("0.7"), m.norm(v.a) + c),
        {"|x| <= 100": lambda m, v: m.at_most(m.abs(v.x), m.exact(100))},
        constants={"c": "25/2"},
        siblings={"-1": changed(c=-1)},
    )
    raw = batches.filled(claim.formula, np.random.default_rng(0), {"n": 2}, 8)
    found = named_constants(claim.formula, raw, {"n": 2}, {})
    assert {0.7, 12.5, 100.0} <= {*found}
    assert not {0.0, 1.0, 2.0, 3.0} & {*found}


# sides that touch

SIDES = st.lists(st.sampled_from([0.0, -1.0, 0.5, 1.0, -0.5]), min_size=6, max_size=6)


@given(SIDES, SIDES)
def test_equal_sides_under_less_touch_and_nothing_else_is_changed(left, right):
    m = FLOATS
    x, y = (lanes(np.array(side)) for side in (left, right))
    relation = m.below(x, y)
    before, (found, suspect) = heights(np, relation), seen(np, relation)
    touching = (x.value == y.value) & (y.value <= 0)
    assert ((found == TOUCHED) == touching).all()
    assert (found[~touching] == before[~touching]).all()
    assert (suspect == (x.value >= y.value)).all()
    assert (seen(np, m.at_most(x, y))[0] == heights(np, m.at_most(x, y))).all()
    both = m.any_of(relation, m.at_most(y, x))  # one of two that are not both violated
    assert (seen(np, both)[0][touching] < TOUCHED).all()


def test_lanes_that_touch_do_not_live_on():
    height = np.array([0.25, TOUCHED, 0.5, TOUCHED, 0.125, -np.inf])
    assert closest(height).tolist() == [2, 0, 4]


def test_where_floats_make_0_of_much_few_are_shown_to_the_judge():
    """Exp(-x^2) is 0 in floats for |x| > 28, and positive."""
    claim = question(
        lambda m, v: m.above(m.exp(-m.square(v.x)) * m.exp(m.abs(v.y)), 0),
        x=Real((0, 6)),
        y=Real(),
    ).claim
    scout = from_nothing(claim, "screen", share("screen"), once=True)
    assert scout.found is None
    assert 0 < scout.spent < share("screen")


def test_large_instances_of_a_check_are_light():
    """No formula of all pairs is evaluated at thousands of numbers, but one of sums is."""
    seen = {}

    def pairs(m, v):
        seen["pairs"] = max(seen.get("pairs", 0), v.n)
        places = itertools.product(range(v.n), repeat=2)
        return sum((v.a[i] * v.a[j] for i, j in places), m.exact(0))

    def pairs_of_norms(m, v):
        seen["norms"] = max(seen.get("norms", 0), v.n)
        norms = [m.norm(v.a[i : i + 1]) for i in range(v.n if v.n <= 64 else 1)]
        return sum((x * y for x, y in itertools.product(norms, repeat=2)), m.exact(0))

    def total(m, v):
        seen["sums"] = max(seen.get("sums", 0), v.n)
        return m.square(m.sum(v.a))

    for name, squared in (("pairs", pairs), ("norms", pairs_of_norms), ("sums", total)):
        claim = question(
            lambda m, v, squared=squared: m.at_most(0, squared(m, v) + 1), a=Vector("n")
        ).claim
        for once in (False, True):
            assert from_nothing(claim, "sizes", 60, numbers=64, once=once).found is None
            if not once:
                assert seen[name] <= 64
    assert seen["pairs"] <= 64
    assert seen["norms"] <= 64
    assert 1024 < seen["sums"] <= 4096


FALLEN = [
    "softmax-constant-smooth",
    "softmax-size-thousands-of-tokens",
    "functions-jump-sixty-five",
    "functions-jump-double-root",
    "functions-needle-far-window",
    "numbers-relation-parallel",
    "matrices-relation-commuting",
    "integers-integer-prime-values",
    *(
        ("softmax-size-entropy", "functions-jump-cubic-root", "matrices-relation-conformal")
        if nightly()
        else ()
    ),
]


@pytest.mark.parametrize("seed", range(few(4)))
@pytest.mark.parametrize("name", FALLEN)
def test_a_coincidence_or_a_large_size_is_found_by_a_quick_check(name, seed):
    assert quick(PLANTED[f"planted/plain-{name}:literal"].claim, seed).refuted


def test_a_matrix_that_is_a_combination_meets_its_hypotheses():
    """A symmetric pair of which one is a multiple of the other: chance draws no such two."""
    claim = question(
        lambda m, v: m.any_of(
            m.above(m.norm(v.A @ v.B - v.B @ v.A), 0),
            m.equal(m.min(m.abs(v.A)), 0),
            m.equal(v.A[0, 1], v.A[1, 0]),
        ),
        n=Integer(2, 2),
        A=Matrix("n", "n"),
        B=Matrix("n", "n"),
    ).claim
    scout = from_nothing(claim, "screen", round(0.2 * QUICK.guided), once=True)
    assert scout.found is not None

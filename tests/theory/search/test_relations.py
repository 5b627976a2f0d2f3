"""Exact relations between numbers of an instance: that they hold, where they lie, what falls."""

import itertools

import numpy as np
import pytest
from flint import fmpz_mat

from attsvm.theory.packs.packs import load_packs
from attsvm.theory.search import relations
from attsvm.theory.search.relations import Domain, relate
from benchmarks.power.measure import PACK, alone
from benchmarks.power.planting import PLANTED

load_packs([PACK])

LANES = 4096


def monomials(found: np.ndarray) -> fmpz_mat:
    """The products of at most two numbers of each solution (places, count), 1 among them."""
    rows = [[1, *map(int, column)] for column in found.T]
    size = len(found) + 1
    pairs = [*itertools.combinations_with_replacement(range(size), 2)]
    return fmpz_mat([[row[i] * row[j] for i, j in pairs] for row in rows])


SIZED = (relations.quadric_relation, relations.sum_relation)
KINDS = [(relations.product_relation, 3), *itertools.product(SIZED, (3, 4))]


@pytest.mark.parametrize(("make", "size"), KINDS)
def test_solutions_of_an_equation_satisfy_one_of_degree_two(make, size):
    generator = np.random.default_rng(0)
    for _ in range(20):
        found = make(size, generator).solutions(40)
        assert (found == np.rint(found)).all()
        table = monomials(found)
        assert table.rank() < table.ncols()
    free = monomials(relations.no_relation(generator, size, 40))
    assert free.rank() == free.ncols()  # numbers that have nothing in common satisfy none


def related(arrays, domains, seed=0, laps=100, lanes=LANES):
    """Batches of ones after `relate`, as one."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(laps):
        batch = {name: np.full((*shape, lanes), 0.375) for name, shape in arrays.items()}
        relate(batch, domains, generator)
        found.append(batch)
    return {name: np.concatenate([b[name] for b in found], axis=-1) for name in arrays}


COUNT = Domain(whole=True, low=1)


def test_integers_and_a_float_are_sides_of_right_triangles_of_many_sizes():
    found = related({"a": (), "b": (), "x": ()}, {"a": COUNT, "b": COUNT, "x": Domain()})
    a, b, x = (found[name] for name in "abx")
    large = (a * a + b * b == x * x) & (a > 8) & (b > 8) & (x == np.rint(x))
    assert len({*zip(a[large], b[large], strict=True)}) > 50
    lens = (x * (a + b) == a * b) & (a > 20) & (b > 20) & (a != b)
    assert lens.any()


def test_triangles_are_scaled_and_lie_in_the_rows_of_arrays():
    found = related({"A": (2, 2), "x": (2,)}, {"A": Domain(), "x": Domain()})
    A, x = found["A"], found["x"]
    touched = (x != 0.375).all(axis=0) & (A != 0.375).all(axis=(0, 1)) & (A != 0).all(axis=(0, 1))
    rows = touched & ((A * A).sum(axis=1) == x * x).all(axis=0)
    assert (rows & (abs(x).max(axis=0) < 1)).any()
    assert (rows & (abs(A[0, 0]) != abs(A[1, 0])) & (abs(A[0, 0]) != abs(A[1, 1]))).any()
    apart = (A[0] == 0.375).all(axis=0) | (A[1] == 0.375).all(axis=0)
    assert apart.any()  # not all rows at once


def test_vectors_of_two_variables_become_parallel_and_orthogonal():
    found = related({"a": (3,), "b": (3,)}, {"a": Domain(), "b": Domain()})
    a, b = found["a"], found["b"]
    full = ((a != 0) & (a != 0.375)).all(axis=0) & ((b != 0) & (b != 0.375)).all(axis=0)
    minors = abs(a[0] * b[1] - a[1] * b[0]) + abs(a[0] * b[2] - a[2] * b[0])
    assert (full & (minors == 0) & (abs(a[0]) != abs(a[1])) & (abs(a[0]) != abs(b[0]))).any()
    assert (full & ((a * b).sum(axis=0) == 0) & (minors != 0)).any()


def test_what_lies_outside_a_domain_is_left_out_and_most_lanes_stay():
    domains = {"k": Domain(whole=True, low=1, high=30), "x": Domain(low=0), "y": Domain(high=2)}
    found = related(dict.fromkeys("kxyz", ()), domains)
    moved = found["k"] != 0.375
    assert moved.any()
    assert (found["k"][moved] == np.rint(found["k"][moved])).all()
    assert found["k"][moved].min() >= 1
    assert found["k"].max() <= 30
    assert found["x"].min() >= 0
    assert found["y"].max() <= 2
    assert (found["z"] == 0.375).all()  # has no domain
    assert np.mean(moved | (found["x"] != 0.375) | (found["y"] != 0.375)) < 1 / 8


def test_equal_seeds_relate_equally_and_one_number_alone_or_none_is_left():
    domains = {"a": Domain(), "k": COUNT}
    one, other = (related({"a": (2, 3), "k": ()}, domains, seed=5, laps=2) for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert (related({"x": ()}, {"x": Domain()}, laps=3)["x"] == 0.375).all()
    assert related({}, {}, laps=1) == {}


def test_places_lie_in_arrays_of_any_shapes():
    shapes = {"A": (2,), "B": (2, 6), "C": (2, 2), "x": (), "D": (40, 40), "none": (0, 2)}
    found = related(shapes, dict.fromkeys(shapes, Domain()), laps=250, lanes=8)
    assert all((found[name] != 0.375).any() for name in shapes if name != "none")


PLANTS = [
    ("numbers-relation-legs-and-root", "screen"),
    ("numbers-relation-lens", "screen"),
    ("numbers-relation-parallel", "screen"),
    ("numbers-relation-ladders", "integers"),
    ("functions-needle-far-window", "screen"),
]


@pytest.mark.parametrize(("name", "searcher"), PLANTS)
def test_a_relation_that_was_planted_is_found(name, searcher):
    found = alone(PLANTED[f"planted/plain-{name}:literal"].claim, searcher, 60.0, 1)
    assert found.refuted, found

"""Support vectors of random data: decided as by the exact solution, as likely as is proved."""

from dataclasses import replace

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.errors import ProofError
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.theory.declaration.proof import grants, recorded
from attsvm.theory.declaration.typesetting import typeset
from properties.tf import overparameterisation as statement
from properties.tf.figures import overparameterisation as figure
from properties.tf.overparameterisation import chances, laws
from properties.tf.overparameterisation.laws import Law
from symbolic.tf import overparameterisation as proofs
from symbolic.tf.overparameterisation import GAUSSIAN, GENERAL_POSITION


@pytest.mark.parametrize("d", [1, 2, 5])
def test_support_by_the_gram_matrix_is_that_of_the_exact_solutions(d):
    generator, seen = np.random.default_rng(d), set()
    alphas = np.array([(0, 0), (1, 0), (2, 1), (2, 2)])
    for _ in range(6):
        X, Z = (
            laws.spherical(Law(1, 3, d), generator)
            if d < 2
            else laws.gaussian(Law(2, 3, d), generator)
        )
        data = AttentionData(X, Z, scores=np.zeros(X.shape[:2]))
        chosen = alphas[:, : data.n]
        both = np.array([X, 2.0 * X]), np.array([Z, Z])
        assert len({*map(bytes, laws.supports(*both, chosen))}) == 1
        for alpha, found in zip(chosen, laws.supports(*both, chosen)[0], strict=True):
            answer = exact_att_svm(data, alpha)
            assert found == (answer is not None and answer.all_tight)
            seen.add(bool(found))
    assert seen == {False, True}


def test_the_chance_of_an_acute_triangle_is_the_known_one():
    assert chances.chance(Law(1, 3, 1)) == pytest.approx(0.0, abs=1e-12)
    assert chances.chance(Law(1, 3, 2)) == pytest.approx(1 / 4)
    assert chances.chance(Law(2, 3, 4)) == pytest.approx((1 - 3 * 10 / 64) ** 2)
    assert all(
        chances.least_chance(Law(1, 3, d)) <= chances.chance(Law(1, 3, d)) for d in range(2, 200)
    )


def test_the_bound_is_0_and_no_even_power_of_a_number_below_0_where_it_says_nothing():
    for n in (1, 2):
        assert chances.least_chance(Law(n, 3, 2)) == 0.0
        assert chances.least_chance(Law(n, 3, 64)) == pytest.approx((1 - 3 * 0.75**32) ** n)
    text = chances.BOUND.stated.written({"tokens": "gaussian", "power": 1})
    assert [line.count("max") for line in (text.latex, text.plain)] == [1, 1]


def test_proofs_for_gaussian_tokens_are_none_for_tokens_of_another_law():
    for reading in ("amended-1", "sharp"):
        formula = statement.PROBABILITY.claim(reading).formula
        other = replace(formula, constants={"tokens": "spherical"})
        for supposed in (GAUSSIAN, GENERAL_POSITION):
            assert grants(formula, supposed)
            assert not grants(other, supposed)
        assert "Gaussian" in str(typeset(formula))
        assert "Gaussian" not in str(typeset(other))


def test_orthogonal_queries_need_the_choices_of_one_place_alone(monkeypatch):
    generator = np.random.default_rng(0)
    sets = [laws.gaussian(Law(2, 3, 4), generator) for _ in range(12)]
    X, Z = map(np.array, zip(*sets, strict=True))
    found = laws.everywhere(X, Z).tolist()
    monkeypatch.setattr(laws.np, "count_nonzero", lambda products: -1)
    assert found == laws.everywhere(X, Z).tolist()
    assert len(set(found)) == 2


def test_the_figure_counts_each_condition_in_its_data_sets():
    table = figure.numbers(0, 20, [(1, 3)], (2, 64)).tables["frequencies"]
    hits = {d: table.where(d=d)["hits"].tolist() for d in (2, 64)}
    assert hits[2][2] <= hits[2][1] < hits[2][0] == 20  # the head separates one input
    assert hits[64] == [20, 20, 20, 20]


def test_the_proof_fails_for_a_smaller_base(monkeypatch):
    monkeypatch.setattr(chances, "base", lambda T: 1 - 2 / (T - 1) ** 2)
    with pytest.raises(ProofError), recorded():
        proofs.prove_bound()

"""Experiments of the talks: their means and shares, and pictures of nothing but their tables."""

import numpy as np
import pytest

from attsvm.prediction import relu_head
from attsvm.training import descend_w
from properties._support.experiments import INTERVAL, means, shares
from properties._support.published_data import gaussian_protocol
from properties.mm.figures import joint, loss_choice
from properties.mm.figures import several_inputs as prompted_inputs
from properties.tf.figures import (
    added_regulariser,
    few_tokens,
    generalised_svm,
    overparameterisation,
    several_inputs,
    svm_rank,
)

FEW = {"each": (0.1, 40), joint.NAIVE: (0.1, 600)}
EXPERIMENTS = {
    "mm/joint": (joint, {"rules": FEW, "radii": (1.0,)}),
    "mm/loss-choice": (loss_choice, {"steps": 30}),
    "mm/several-inputs": (prompted_inputs, {"inputs": (1, 4), "steps": 400}),
    "tf/added-regulariser": (added_regulariser, {"steps": 60}),
    "tf/few-tokens": (few_tokens, {"steps": 40}),
    "tf/generalised-svm": (generalised_svm, {"sizes": (4,), "steps": (10, 1000)}),
    "tf/overparameterisation": (overparameterisation, {"sizes": ((1, 3),), "dimensions": (2, 8)}),
    "tf/several-inputs": (several_inputs, {"inputs": (1, 4)}),
    "tf/svm-rank": (svm_rank, {"sizes": ((5, 5),), "dimensions": (1, 5)}),
}


@pytest.fixture(scope="module", params=EXPERIMENTS)
def made(request):
    module, sizes = EXPERIMENTS[request.param]
    return request.param, module, module.numbers(0, 2, **sizes)


def test_intervals_hold_their_means_and_pictures_show_the_tables(made):
    name, module, numbers = made
    assert module.figure.id == name
    assert module.figure.sets >= 100
    known = {0.0}
    for table in numbers.tables.values():
        assert np.isfinite(table["mean"]).any()
        found = np.isfinite(table["low"]) & np.isfinite(table["high"])
        assert (table["low"] <= table["mean"] + 1e-12)[found].all()
        assert (table["mean"] <= table["high"] + 1e-12)[found].all()
        known |= {x for c in table.columns.values() if c.dtype.kind in "if" for x in c.tolist()}
    pictures = [draw(numbers) for draw in module.figure.pictures.values()]
    lines = [line for picture in pictures for axes in picture.axes for line in axes.get_lines()]
    drawn = np.concatenate([np.ravel(line.get_data()).astype(float) for line in lines])
    seen = set(drawn[np.isfinite(drawn)].tolist())
    assert len(seen) > 2
    assert seen <= known


def test_means_and_shares_are_those_of_the_data_sets():
    values = np.array([[1.0, 2.0], [3.0, np.nan], [8.0, 4.0]])
    table = means(values, x=[5, 6], data="all")
    assert table["mean"].tolist() == [4.0, 3.0]
    assert table["data_sets"].tolist() == [3, 2]
    half = INTERVAL * np.array([np.sqrt(13.0 / 3.0), 1.0])
    np.testing.assert_allclose(table["high"] - table["mean"], half)
    counted = shares(values > 2.5, x=[5, 6])
    assert counted["hits"].tolist() == [2, 1]
    np.testing.assert_allclose(counted["low"][0], 0.0943, atol=1e-4)  # exact, of 2 in 3
    np.testing.assert_allclose(counted["high"][0], 0.9916, atol=1e-4)


@pytest.mark.parametrize("made", ["tf/svm-rank"], indirect=True)
def test_programmes_without_a_solution_count_as_rank_one_and_errors_as_full_rank(made):
    tables = made[2].tables
    none = tables["rank"].where(d=1)
    assert none.where(counted="solved")["data_sets"].tolist() == [0, 0]
    assert none.where(counted="as published")["mean"].tolist() == [1.0, 1.0]
    nuclear = tables["rank"].where(d=5, counted="solved", norm="nuclear")["mean"][0]
    counted = tables["tolerance"].where(d=5)["mean"]
    assert counted[0] == nuclear < 5.0 == counted[-1]


@pytest.mark.parametrize("made", ["tf/several-inputs"], indirect=True)
def test_each_choice_is_global_or_local_and_has_its_own_direction(made):
    tables = made[2].tables
    for n in (1, 4):
        hits = [tables["choices"].where(n=n, choice=c)["hits"][0] for c in ("global", "local")]
        assert sum(hits) == 2
    assert np.nanmin(tables["cosine"].where(step=2000)["mean"]) > 0.99


@pytest.mark.parametrize("made", ["mm/several-inputs"], indirect=True)
def test_normalised_descent_is_nearer_to_the_direction_of_its_choice(made):
    rows = made[2].tables["cosine"].where(step=400)
    plain, normalised = (rows.where(rule=rule)["mean"] for rule in ("plain", "normalised"))
    assert (normalised > plain).all()
    assert normalised.min() > 0.97


@pytest.mark.parametrize("made", ["mm/loss-choice"], indirect=True)
def test_losses_part_where_scores_are_large(made):
    pairs = made[2].tables["pairs"].where(data="published", pair="-x and exp(-x)")
    least = [pairs.where(scale=C)["mean"].min() for C in loss_choice.SCALES]
    assert least[0] == pytest.approx(1.0)  # equal scores: all go along (1, 0)
    assert least[1] < 0.99


def test_the_public_rule_descends_as_ours_while_its_floats_are_sound():
    generator = np.random.default_rng(0)
    data = [gaussian_protocol(generator, 3, 4, 4) for _ in range(2)]
    units, W0 = generator.normal(size=(2, 2, 4, 4))
    last = generalised_svm.public_descent(data, units, W0, steps=20)
    for one, hidden, start, end in zip(data, units, W0, last, strict=True):
        head = relu_head(hidden.T)
        run = descend_w(
            one, start, "log-loss", step=0.1, steps=20, normalised=True, head=head, record="all"
        )
        np.testing.assert_allclose(end, run.W[0, -1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("made", ["mm/joint"], indirect=True)
def test_floats_of_32_bits_turn_the_prompt_from_the_relaxed_to_the_strict_direction(made):
    rows = made[2].tables["descent"].where(data="published, h = 1.5", rule=joint.NAIVE)
    relaxed, strict = (rows.where(measure=f"p {kind}") for kind in ("relaxed", "strict"))
    settled = relaxed["step"] == 121
    assert relaxed["mean"][settled] > 0.999 > 0.99 > strict["mean"][settled]
    assert strict["mean"][-1] > 0.999 > 0.99 > relaxed["mean"][-1]

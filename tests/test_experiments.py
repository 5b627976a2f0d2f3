"""Experiments of the talks: their means and shares, and pictures of nothing but their tables."""

import numpy as np
import pytest

from properties._support.experiments import INTERVAL, means, shares
from properties.mm.figures import joint, loss_choice
from properties.tf.figures import few_tokens, overparameterisation, several_inputs, svm_rank

FEW = {"each": (0.1, 40), joint.NAIVE: (0.1, 600)}
EXPERIMENTS = {
    "mm/joint": (joint, {"rules": FEW, "radii": (1.0,)}),
    "mm/loss-choice": (loss_choice, {"steps": 30}),
    "tf/few-tokens": (few_tokens, {"steps": 40}),
    "tf/overparameterisation": (overparameterisation, {"sizes": ((1, 3),), "dimensions": (2, 8)}),
    "tf/several-inputs": (several_inputs, {"inputs": (1, 4), "steps": 30}),
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


@pytest.mark.parametrize("made", ["mm/joint"], indirect=True)
def test_floats_of_32_bits_turn_the_prompt_from_the_relaxed_to_the_strict_direction(made):
    rows = made[2].tables["descent"].where(data="published, h = 1.5", rule=joint.NAIVE)
    relaxed, strict = (rows.where(measure=f"p {kind}") for kind in ("relaxed", "strict"))
    settled = relaxed["step"] == 121
    assert relaxed["mean"][settled] > 0.999 > 0.99 > strict["mean"][settled]
    assert strict["mean"][-1] > 0.999 > 0.99 > relaxed["mean"][-1]

"""Screening as tensors: the same heights as in numpy, and what is planted is found."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from toy_pack import stated

from attsvm.theory import Fitted, Integer, Labels, Near, Real, Vector, changed, load_packs
from attsvm.theory.arithmetic import Tensors
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout, gpu
from attsvm.theory.search.gpu import gpu_is_there, runs_there, screen_on_gpu
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.sequence import guide
from benchmarks.power.regions import proportional, right_triangles
from tests.late import Late

torch = Late("torch")

DEVICES = pytest.mark.parametrize("device", ["cpu", *["cuda"] * gpu_is_there()])
BATCH, _LOOKS = 512, 60


@functools.cache
def screened_there():
    """The readings of this repository that can be screened on a GPU."""
    found = [c for c in find_claims(load_packs()) if runs_there(c)]
    assert len(found) > 100
    return found


@DEVICES
@pytest.mark.parametrize("share", range(4))
def test_tensors_see_the_heights_that_numpy_sees(device, share):
    """Of every formula of variables: fitted bounds, hypotheses and both sides.

    An exponential beyond e^600 is e^600 there and may be infinite in numpy, so a few instances of
    enormous numbers have a height in one of both alone.
    """
    m, compared = Tensors(device), 0
    for claim in screened_there()[share::4]:
        formula, parameters = claim.formula, claim.part("").parameters
        shape = {axis: max(2, formula.variables[axis].low) for axis in formula.axes}
        raw = batches.filled(formula, np.random.default_rng(0), shape, BATCH)
        there = {
            name: torch.tensor(value, device=device) if isinstance(value, np.ndarray) else value
            for name, value in raw.items()
        }
        fitted, height = batches.fit_screened(formula, raw, shape, BATCH, parameters)
        fitted_there, tensor = batches.fit_screened(formula, there, shape, BATCH, parameters, m)
        assert tensor.device.type == device
        seen = tensor.cpu().numpy()
        both = np.isfinite(height) & np.isfinite(seen)
        assert np.mean(np.isneginf(height) != np.isneginf(seen)) <= 0.1, claim.id
        unlike = ~np.isclose(height[both], seen[both], 1e-6, 1e-9)
        assert unlike.sum() <= 0.05 * both.sum(), claim.id
        compared += both.sum()
        for name, value in fitted.items():
            if isinstance(value, np.ndarray):
                alike = np.isclose(value, fitted_there[name].cpu().numpy(), 1e-9, 0.0)
                assert alike.mean() >= 0.95, (claim.id, name)
    assert compared >= BATCH / 4 * len(screened_there()[share::4])


def scouted(claim, device, part="", seed=0, batch=512):
    searcher = replace(
        GUIDED["gpu"], search=functools.partial(screen_on_gpu, device=device, batch=batch)
    )
    scout = Scout(Tally(claim, claim.part(part), 0), "gpu", _LOOKS)
    guide(searcher, scout, np.random.default_rng(seed))
    return scout


nearby = stated(
    "nearby",
    {"n": Integer(4, 4), "x": Vector("n"), "y": Near("x", ("n",)), "s": Labels("n"), "R": Fitted()},
    lambda m, v, c: m.at_most(m.abs((v.x - v.y) @ v.s), c * v.R),
    {
        "x - y is at most R": lambda m, v: m.at_most(m.norm(v.x - v.y), v.R),
        "s is a vector of signs": lambda m, v: m.equal(v.s * v.s, v.s * v.s),
    },
    constants={"c": 2},
    siblings={"less": changed(c="199/100")},
)


@DEVICES
@pytest.mark.parametrize("planted", [proportional, right_triangles], ids=lambda c: c.id)
def test_what_is_planted_is_found(device, planted):
    found, again = (scouted(planted, device) for _ in range(2))
    assert found.found is not None
    if device == "cpu":  # a card may rank equals in another order
        assert found.found == again.found


@DEVICES
def test_a_sharp_bound_stands_and_less_falls(device):
    """|<d, s>| <= 2 R for four drawn signs: equality at d = R s/2, and only there."""
    stands = scouted(nearby, device)
    assert stands.found is None
    assert stands.tally.seen.screened > 5000
    assert stands.tally.pool.height > 0.99
    fell = [scouted(nearby, device, "less", seed) for seed in range(3)]
    assert all(scout.found is not None for scout in fell)
    assert {
        float(s) for scout in fell for s in scout.tally.latest.instance["fields"]["s"]["values"]
    } <= {1.0, -1.0}


@DEVICES
def test_a_batch_keeps_its_best_and_what_is_new_in_it_is_counted_once(device, monkeypatch):
    best, new, kept = [], [], []
    whole, fresh, renewed = Formula.fit_seen, gpu._Moves.fresh, gpu._Moves.renewed

    def begun(moves, count):
        kept.clear()
        return fresh(moves, count)

    def followed(moves, raw, parents):
        child = renewed(moves, raw, parents)
        kept.append(len(parents))
        return child

    def watched(self, raw, shape, batch, parameters, m, **options):
        fitted, height, suspect = whole(self, raw, shape, batch, parameters, m, **options)
        numbers = torch.cat([x.reshape(-1, batch).cpu() for x in fitted.values()])
        lanes = [tuple(lane) for lane in numbers.T.tolist()]
        new.append(len({*lanes}) - len({*lanes[: kept[0] if kept else 0]}))
        if kept:
            assert height.max() >= best[-1]
        best.append(float(height.max()))
        return fitted, height, suspect

    monkeypatch.setattr(gpu._Moves, "fresh", begun)
    monkeypatch.setattr(gpu._Moves, "renewed", followed)
    monkeypatch.setattr(Formula, "fit_seen", watched)
    scout = scouted(nearby, device, batch=256)
    assert len(new) >= 20
    assert scout.tally.seen.screened == sum(new) < 256 * len(new)
    assert all(np.isfinite(elite.height) for elite in scout.pool.elites())


def test_a_card_without_memory_gets_smaller_batches(monkeypatch):
    asked = []

    def crowded(scout, formula, raw, shape, batch, *rest):
        asked.append(batch)
        if batch > 100:
            raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(gpu, "evolve", crowded)
    scouted(nearby, "cpu", batch=2048)
    assert asked == [2048, 512, 128, 32, 32]


def test_integers_records_and_moved_variables_are_left_to_others():
    whole = stated(
        "whole",
        {"k": Integer(1, 9)},
        lambda m, v, c: m.at_most(m.exact(v.k), m.exact(9) * c),
        constants={"c": 1},
        siblings={"half": changed(c="1/2")},
    )
    assert not runs_there(whole)
    claims = {c.id: c for c in find_claims(load_packs())}
    assert not runs_there(claims["sim/theorem-3.15:amended-2"])
    assert runs_there(claims["sim/lemma-3.13:amended"])


def test_an_account_speaks_of_a_gpu_only_where_somebody_asked(monkeypatch):
    absent = replace(GUIDED["gpu"], there=lambda: False)
    monkeypatch.setitem(GUIDED, "gpu", absent)
    planted = {"claim": nearby, "part": "less", "seconds": None, "rounds": 0}
    assert "gpu" not in hunt(**planted).absent
    assert hunt(**planted, searchers=["drawn", "gpu"]).absent[0] == "gpu"


def test_without_a_driver_torch_is_not_imported(monkeypatch):
    monkeypatch.setattr(gpu, "_DRIVERS", ("/nowhere",))
    assert not gpu.gpu_is_there()


def test_reals_of_one_variable_are_screened():
    claim = stated(
        "one",
        {"x": Real()},
        lambda m, v, c: m.at_most(v.x * (c - v.x), m.exact("1/4")),
        constants={"c": 1},
        siblings={"more": changed(c=2)},
    )
    assert scouted(claim, "cpu").found is None
    assert scouted(claim, "cpu", "more").found is not None

"""Relatives: instances of other claims are tried, fitted and changed; a claim's own are not."""

import json
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from toy_pack import build

from attsvm.data import AttentionData
from attsvm.theory import changed, load_packs
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.search.relatives import FOLDER, _adapted, fitted, known_relatives
from tests.theory.search.scouting import Witness, instance, scouted, share, witnessed

HERE = sys.modules[__name__]


@dataclass(frozen=True, slots=True)
class Spot:
    """A point."""

    at: Any


@dataclass(frozen=True, slots=True)
class Marked:
    """A point, a matrix of its size, and a word."""

    spot: Spot
    W: Any
    word: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A point and a word."""

    spot: Spot
    word: str


ODD = np.array([-3.5, 0.25, 77.0])


def is_odd(case: Any) -> bool:
    spot = case if isinstance(case, Spot) else case.spot
    return spot.at.tolist() == ODD.tolist()


@pytest.fixture
def planted(monkeypatch):
    """Puts claims into this module, as if they were declared here."""

    def plant(**made):
        for name, claim in made.items():
            monkeypatch.setattr(HERE, name, claim, raising=False)
        return made

    return plant


def made(name, hint, violated=is_odd, **rest):
    witness = Witness(hint, violated)
    conclude = witness.conclusion()
    conclude.__module__ = __name__
    return replace(build(name, conclude, witness.certify, **rest), file=__file__)


SPOTS = st.integers(0, 5).map(lambda k: Spot(np.full(2 + k % 2, float(k))))


def test_an_instance_of_another_claim_of_the_same_type_is_found(planted):
    other = made("other", Spot, data=SPOTS, examples=[Spot(ODD)])
    claim = made("claim", Spot, data=SPOTS)
    planted(other=other, claim=claim)
    assert known_relatives(claim) == [codec.encode(Spot(ODD))]
    assert is_odd(instance(claim, scouted(claim, "relatives")))


def test_an_instance_of_another_form_is_no_instance_of_this_claim(planted):
    triple = np.array([0.0, 0.0, 0.5])

    def longer(case: Any) -> bool:
        return case.shape != (2,)

    other = made("other", np.ndarray, data=st.just(triple), examples=[triple])
    pairs = st.integers(-3, 3).map(lambda k: np.array([1.0, k]))
    claim = made("claim", np.ndarray, longer, data=pairs)
    planted(other=other, claim=claim)
    assert known_relatives(claim) == [codec.encode(triple)]
    assert scouted(claim, "relatives").found is None
    explicit = replace(claim, examples=[np.ones(4)], data=pairs)  # the author's: lengths vary
    assert longer(instance(claim, scouted(explicit, "relatives")))


def test_an_instance_of_another_type_is_fitted_to_a_template(planted):
    other = made("other", Pair, data=st.nothing(), examples=[Pair(Spot(ODD), "there")])
    claim = made("claim", Marked, data=st.nothing())
    planted(other=other, claim=claim)
    start = Marked(Spot(np.ones(2)), np.array([[1.0, 2.0], [3.0, 4.0]]), "here")
    found = instance(claim, scouted(claim, "relatives", [start]))
    assert found.spot.at.tolist() == ODD.tolist()
    assert found.W.tolist() == [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 0.0]]


def test_what_comes_close_is_changed(planted):
    def scaled(case: Any) -> bool:
        return case.at.shape == ODD.shape and bool((case.at == -ODD).all())

    other = made("other", Spot, data=SPOTS, examples=[Spot(ODD)])
    claim = made("claim", Spot, scaled, data=SPOTS)
    planted(other=other, claim=claim)
    assert scaled(instance(claim, scouted(claim, "relatives", budget=600)))


def test_instances_of_siblings_of_other_claims_are_relatives(planted):
    pair = {"a": changed(shift=1.0, examples=[Spot(ODD)]), "b": changed(shift=2.0)}
    other = made("other", Spot, data=SPOTS, siblings=pair)
    planted(other=other, claim=made("claim", Spot, data=SPOTS))
    assert known_relatives(HERE.claim) == [codec.encode(Spot(ODD))]


def test_the_claims_own_instances_are_none_even_where_others_list_them(planted):
    one, two, three = (Spot(np.full(1, k)) for k in (1.0, 2.0, 3.0))
    pair = {"a": changed(shift=1.0, examples=[two]), "b": changed(shift=2.0)}
    claim = made("claim", Spot, data=SPOTS, examples=[one], siblings=pair)
    other = made("other", Spot, data=SPOTS, examples=[one, two, three])
    planted(other=other, claim=claim)
    assert known_relatives(claim) == [codec.encode(three)]
    assert known_relatives(replace(claim, examples=())) == [codec.encode(three)]


def test_claims_about_other_things_are_no_relatives(planted):
    planted(
        other=made("other", Any, data=SPOTS, examples=[1.0]), claim=made("claim", Spot, data=SPOTS)
    )
    assert known_relatives(HERE.claim) == []
    assert scouted(HERE.claim, "relatives").proposed == 0


PACK = """
from dataclasses import dataclass
from hypothesis import strategies as st
from flint import arb
from attsvm.theory import Measured, Reading, Records, Slack, Statement, changed

@dataclass(frozen=True, slots=True)
class Only:
    x: float

def declared(name, examples=()):
    def conclusion(case: Only, shift: float = 0.0) -> Slack:
        return Slack(1.0 - shift, 0.0)
    certify = lambda case, shift=0.0: arb(1.0 - shift)
    return Statement(f"loose/{{name}}", source="s", place="p", printed="s",
        variables=Records(Only, st.builds(Only, st.integers(0, 9).map(float))),
        conclusion=Measured("s", floats=conclusion, balls=certify),
        readings={{"literal": Reading("holds", examples=tuple(examples),
            siblings={{"a": changed(shift=2.0), "b": changed(shift=3.0)}})}})

one = declared("one", [Only(1.5)])
two = declared("two")
"""


@pytest.fixture
def pack(tmp_path):
    """A pack in a file, with stored counterexamples beside it."""
    path = tmp_path / "loose.py"
    path.write_text(PACK.replace("{{", "{").replace("}}", "}"))
    folder = tmp_path / FOLDER
    folder.mkdir()
    for name, value in (("one", "5/2"), ("two", "7/2")):
        instance = {"record": "Only", "fields": {"x": {"float": value}}}
        entry = {"claim": f"loose/{name}:literal", "instance": instance}
        (folder / f"{name}.json").write_text(json.dumps(entry))
    (folder / "broken.json").write_text("{")
    (folder / "list.json").write_text("[]")
    for k, odd in enumerate(([7], {"float": "1"}, {"record": "Only", "fields": {}}, {"float": 1})):
        entry = {"claim": "loose/one:literal", "instance": odd}
        (folder / f"odd{k}.json").write_text(json.dumps(entry))
    return path


def test_stored_counterexamples_of_other_claims_are_relatives(pack):
    one, two = find_claims(load_packs(only=[str(pack)]), ["loose"])

    def numbers(claim):
        return [document["fields"]["x"]["float"] for document in known_relatives(claim)]

    assert numbers(two) == ["3/2", "5/2"]
    assert numbers(one) == ["7/2"]


def test_the_relatives_of_installed_claims_are_not_their_own_instances():
    found = 0
    for k, claim in enumerate(find_claims(load_packs())[::4]):
        documents = known_relatives(claim)
        own = [codec.encode(case) for part in claim.parts() for case in part.examples]
        assert not any(document in own for document in documents)
        assert k % 5 or documents == known_relatives(claim)  # as of no claim in particular
        found += len(documents)
    assert found > 0


def test_a_check_at_profile_quick_tries_relatives_of_another_type():
    witness, claim = witnessed("data", AttentionData)
    start = AttentionData(np.ones((1, 2, 1)), np.ones((1, 1)), scores=np.arange(2.0)[None])
    scout = scouted(claim, "relatives", [start])
    assert scout.spent == share("relatives")
    assert len({case.X.shape for case in witness.seen}) > 3
    assert len(set(witness.keys())) == len(witness.keys())


def test_fitting_crops_and_pads_what_shared_an_axis():
    template = codec.encode(Marked(Spot(np.ones(3)), np.arange(9.0).reshape(3, 3), "here"))
    for size in (1, 2, 3, 5):
        other = codec.encode(Pair(Spot(np.full(size, 7.0)), "there"))
        result = codec.decode(fitted(other, template), Marked)
        assert result.spot.at.tolist() == [7.0] * size
        assert (result.W.shape, result.word) == ((size, size), "there")
        common = min(size, 3)
        kept = np.arange(9.0).reshape(3, 3)[:common, :common]
        assert (result.W[:common, :common] == kept).all()
        assert not result.W[common:].any()
        assert not result.W[:, common:].any()


def test_up_to_three_templates_are_tried_for_an_instance():
    other = codec.encode(Pair(Spot(np.full(2, 7.0)), "there"))
    templates = [codec.encode(Marked(Spot(np.ones(k)), np.eye(k), "here")) for k in range(1, 6)]
    tried = [list(_adapted(other, templates[:k], np.random.default_rng(0))) for k in (2, 5)]
    assert list(map(len, tried)) == [2, 3]


def test_without_anything_in_common_nothing_is_fitted():
    template = codec.encode(Spot(np.ones(3)))
    assert fitted(codec.encode(1.0), template) is None
    assert fitted(codec.encode((1.0, "word")), template) is None

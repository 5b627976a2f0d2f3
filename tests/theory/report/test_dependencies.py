"""Which statement rests on which: what a refuted one touches, and how it is drawn."""

import re
from dataclasses import replace

import pytest
import toy_pack

from attsvm.errors import ClaimError
from attsvm.theory import load_packs
from attsvm.theory.record.errata import Erratum, Source, Weight
from attsvm.theory.record.runs import Run
from attsvm.theory.report.dependencies import dependencies, levels, resting_on
from attsvm.theory.report.drawings import graph
from attsvm.theory.report.view import statement_view

RESTS = {"toy/d": ("toy/b", "toy/c"), "toy/a": (), "toy/b": ("toy/a",), "toy/c": (), "toy/e": ()}


def test_what_rests_on_a_statement_does_so_through_others_too():
    assert resting_on("toy/a", RESTS) == ["toy/d", "toy/b"]
    assert resting_on("toy/d", RESTS) == []
    assert levels(RESTS) == {"toy/a": 0, "toy/c": 0, "toy/e": 0, "toy/b": 1, "toy/d": 2}


def test_a_circle_is_refused_by_the_names_in_it():
    with pytest.raises(ClaimError, match="circle") as told:
        levels({**RESTS, "toy/a": ("toy/d",)})
    assert told.value.value == "toy/a, toy/b, toy/d"


def drawn(rests, refuted=(), turned=()):
    """The drawing of these statements after a run that refuted some of them."""
    claims = [
        replace(toy_pack.true, id=f"{id}:literal", rests_on=needed) for id, needed in rests.items()
    ]
    falls = {f"{id}:literal": {"truth": "refuted"} for id in (*refuted, *turned)}
    run = Run("quick", 0, tuple(c.id for c in claims), falls, True, 0)
    errata = tuple(Erratum(id, Weight.CLAIM, "It falls.", "It fails.") for id in turned)
    source = Source("toy", errata=errata)
    return graph([statement_view(id, claims, source, run) for id in rests])


def test_a_drawing_has_a_box_a_statement_a_line_an_edge_and_frames_what_is_touched():
    shown = drawn(RESTS, refuted=["toy/c"], turned=["toy/a"])
    found = re.findall(r"(stroke='#\w+' fill='#\w+').*>(toy/\w)<", shown)
    by_name = {name: box for box, name in found}
    assert sorted(by_name) == sorted(RESTS)
    assert len(set(by_name.values())) == 4  # what rests on a turned one is alike
    assert by_name["toy/b"] == by_name["toy/d"] != by_name["toy/e"]
    assert shown.count("<path") == 3


def test_a_drawing_of_many_levels_is_as_wide_as_they_are():
    chain = {f"toy/{k}": (f"toy/{k - 1}",) if k else () for k in range(12)}
    shown = drawn(chain)
    ((wide, tall),) = re.findall(r"viewBox='0 0 (\d+) (\d+)'", shown)
    boxes = re.findall(r"<rect x='(\d+)' y='(\d+)' width='(\d+)' height='(\d+)'", shown)
    assert len(boxes) == 12
    assert all(int(x) + int(w) < int(wide) and int(y) + int(h) < int(tall) for x, y, w, h in boxes)


def test_a_statement_that_rests_on_none_that_is_there_is_refused(tmp_path):
    path = tmp_path / "resting.py"
    path.write_text(
        "from attsvm.theory import Reading, Real, Statement\n"
        "S = Statement('toy/a', source='s', place='p', printed='t', variables={'x': Real()},\n"
        "  conclusion=lambda m, v: m.at_most(v.x, v.x), rests_on=('toy/none',),\n"
        "  readings={'literal': Reading('holds', tight=True)})\n"
    )
    with pytest.raises(ClaimError, match="rests on a statement that is not there") as told:
        load_packs([str(path)])
    assert told.value.value == "toy/none"


def test_no_statement_of_the_sources_rests_on_itself_through_others():
    (pack,) = load_packs()
    rests = dependencies(pack.claims)
    assert max(levels(rests).values()) > 2
    assert sum(map(len, rests.values())) > len(rests)

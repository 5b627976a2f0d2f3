"""Claims are checked, hunted and shown at a prompt, also those that are typed there."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import attsvm
from attsvm import (
    LOG_LOSS,
    AttentionData,
    Integer,
    Near,
    Reading,
    Real,
    Statement,
    Vector,
    _live,
    descend_w,
    hunt,
    show,
    verify,
)
from attsvm.errors import ClaimError, UnknownClaimError, UsageError
from attsvm.theory import interactive

TYPED = """
def stated(share):
    return Statement(
        "mine/softmax-lipschitz", source="A & <b>paper</b>", place="Lemma 1",
        printed="||softmax(s) - softmax(t)|| <= ||s - t||/2",
        variables={"n": Integer(1, 4), "s": Vector("n"), "t": Near("s", ("n",))}, cost=100,
        conclusion=lambda m, v: m.at_most(
            m.norm(m.softmax(v.s) - m.softmax(v.t)), m.norm(v.s - v.t) / share),
        readings={"literal": Reading("holds", tight=True)},
    )
"""


@pytest.fixture(scope="module")
def typed():
    """What makes a statement in code that lies in no file."""
    names = dict(vars(attsvm), Statement=Statement, Reading=Reading, Integer=Integer)
    names |= {"Near": Near, "Vector": Vector, "__name__": "__main__"}
    exec(compile(TYPED, "<stdin>", "exec"), names)
    return names["stated"]


def test_counterexamples_of_others_beside_a_script_are_none_of_a_typed_claim(tmp_path, typed):
    names = {"__name__": "__main__"}
    script = tmp_path / "script.py"
    script.write_text(f"from attsvm import *\n{TYPED}")
    exec(compile(script.read_text(), str(script), "exec"), names)
    (tmp_path / "counterexamples").mkdir()
    (tmp_path / "counterexamples" / "other--lemma-1--literal.json").write_text("{}")
    found = verify(names["stated"](2))
    assert repr(found).endswith("1 claim: every verdict as expected")


def test_a_typed_claim_is_checked(typed):
    found = verify(typed(2))
    assert found.as_expected
    verdict = found["mine/softmax-lipschitz:literal"].verdict
    assert (str(verdict.truth), str(verdict.validity)) == ("holds", "exercised")
    assert repr(found).endswith("\n1 claim: every verdict as expected")
    assert re.search(
        r"mine/softmax-lipschitz:literal +holds +certified +exercised +2/2 ", repr(found)
    )


def test_a_typed_claim_that_is_false_falls_and_shows_where(typed):
    found = verify(typed(3))
    assert not found.as_expected
    assert "mine/softmax-lipschitz:literal is refuted by\n  case = " in repr(found)
    assert repr(found).endswith("1 claim: 1 not as expected")


def test_a_typed_claim_is_hunted_and_shown(typed):
    hunted = hunt(typed(3), rounds=2)
    assert hunted.found
    assert repr(hunted).startswith("refuted, certified: mine/softmax-lipschitz:literal after ")
    assert "replay" not in repr(hunted)
    assert "\n  (minimal: " in repr(hunted)
    left = replace(hunted, account=replace(hunted.account, minimal=False))
    assert "\n  (not made minimal: shrinking failed" in repr(left)
    quiet = hunt(typed(2), rounds=1)
    assert not quiet.found
    assert repr(quiet).startswith("not refuted: ")
    shown = show(typed(2))
    assert "runs: ||softmax(s) - softmax(t)|| <= ||s - t||/2" in repr(shown)


def test_ids_stand_for_claims_with_what_is_stored_beside_them():
    found = verify("sim/large-dimension:sharp-1", "sim/basic-3:literal-2")
    assert [c.claim.id for c in found.report.checked] == [
        "sim/basic-3:literal-2",
        "sim/large-dimension:sharp-1",
    ]
    assert len(found.report.replayed) == 1
    assert found.as_expected
    assert "\nliteral-2 (expected refuted, certified; strained): " in repr(show("sim/basic-3"))
    again = hunt("sim/basic-3:literal-2", rounds=1)
    assert "(known before this hunt; --fresh" in repr(again)


def test_what_cannot_be_meant_is_an_error(typed):
    with pytest.raises(UnknownClaimError):
        verify("sim/lemma-3.99")
    with pytest.raises(UsageError, match="a hunt is for one claim"):
        hunt("sim/lemma-3.12")
    with pytest.raises(ClaimError, match="no sibling of that name"):
        hunt(typed(2), sibling="none")
    with pytest.raises(UsageError, match="statements begin like that"):
        show("sim/")


@pytest.mark.parametrize("limit", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["seconds", "rounds"])
def test_a_hunt_has_an_end_above_0(name, limit):
    with pytest.raises(UsageError, match=f"{name} must be positive and finite"):
        hunt("sim/basic-3:literal-2", **{"rounds": 1, name: limit})


def test_numbers_of_numpy_are_numbers(typed):
    assert hunt(typed(3), seconds=np.float64(60.0), rounds=np.int64(2), seed=np.int64(0)).found


def test_what_takes_long_tells_how_far_it_is_and_what_does_not_is_quiet(capsys, monkeypatch):
    plain = Statement(
        "mine/plain", "s", "p", "|x| <= |x|", variables={"x": Real()}, cost=100,
        conclusion=lambda m, v: m.at_most(m.abs(v.x), m.abs(v.x)),
        readings={"literal": Reading("holds", tight=True)},
    )  # fmt: skip
    monkeypatch.setattr(interactive, "_QUIET", math.inf)  # on a busy machine ten seconds may pass
    monkeypatch.setattr(_live, "_SILENT", math.inf)
    verify(plain)
    hunt(plain, seconds=None, rounds=1)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(interactive, "_QUIET", -1.0)
    verify(plain)
    assert re.fullmatch(r"\[(\d+)/\1\]: mine/plain:literal\n", capsys.readouterr().err)
    hunt(plain, seconds=None, rounds=1)
    assert "mine/plain:literal: 0 instances, round 1, " in capsys.readouterr().err
    verify(plain, progress=False)
    hunt(plain, seconds=None, rounds=1, progress=False)
    assert capsys.readouterr().err == ""


def test_where_no_pack_is_known_nothing_is_checked_and_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setattr(interactive, "load_packs", lambda **_: ())
    with pytest.raises(UsageError, match=r"there is no claim to check.*--pack"):
        verify()


def test_data_statements_and_runs_show_themselves(typed):
    data = AttentionData.of([[[1, 0], [0, 1]]], [[1, 0]], scores=[[1, 0]])
    assert repr(data) == "AttentionData(n=1, T=2, d=2, scores)"
    assert repr(typed(2)) == "Statement(mine/softmax-lipschitz; literal: holds)"
    run = descend_w([data] * 5, np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=20, record="all")
    assert repr(run).startswith("Trajectory of 5 runs: 21 iterates, steps 0 to 20, last norms ")


def test_every_public_name_is_there_and_imported_when_it_is_used():
    assert {"verify", "hunt", "show", "solve", "descend_w", "Statement"} <= set(attsvm.__all__)
    for name in attsvm.__all__:
        assert getattr(attsvm, name) is not None
        assert name in dir(attsvm)
    with pytest.raises(AttributeError):
        attsvm.nothing  # noqa: B018

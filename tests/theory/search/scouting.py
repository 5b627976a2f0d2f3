"""Helpers for tests of guided searchers: one searcher runs alone on a claim, from known cases."""

import functools
import json

import numpy as np
from flint import arb
from hypothesis import strategies as st
from toy_pack import build

from attsvm.theory import PROFILES
from attsvm.theory.instance import codec
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout, draw

QUICK = PROFILES["quick"]
NOTHING = st.nothing()


def share(name):
    """The number of evaluations that a quick check grants a searcher."""
    return round(GUIDED[name].share * QUICK.guided)


def scouted(claim, name, cases=(), budget=None, seed=0):
    """The scout after a searcher worked from these cases, or from cases that the strategy draws."""
    tally = Tally(claim, claim.part(""), 0)
    if cases:
        for case in cases:
            assert examine_case(tally, case, "test") == (True, None)
    else:
        assert draw(tally, QUICK.examples, QUICK.simplify, seed) is None
    scout = Scout(tally, name, share(name) if budget is None else budget)
    GUIDED[name].guide(scout, np.random.default_rng(seed))
    return scout


def from_nothing(claim, name, budget, seed=0, **options):
    """The scout after a searcher worked from no case."""
    scout = Scout(Tally(claim, claim.part(""), 0), name, budget, **options)
    GUIDED[name].guide(scout, np.random.default_rng(seed))
    return scout


@functools.cache
def drawn(hint, data, seed):
    """The instances that Hypothesis draws for a check in the profile quick."""
    witness, claim = witnessed("drawn", hint, data=data)
    assert draw(Tally(claim, claim.part(""), 0), QUICK.examples, QUICK.simplify, seed) is None
    assert witness.seen
    return witness.seen


def only_by_the_searcher(hint, violated, data, name, cases, budget=None, seed=0):
    """The counterexample that a searcher finds from these cases; Hypothesis draws none."""
    assert not any(map(violated, drawn(hint, data, seed)))
    _, claim = witnessed(name, hint, violated, data)
    return instance(claim, scouted(claim, name, cases, budget, seed))


def instance(claim, scout):
    """The counterexample that the scout found, decoded."""
    assert scout.found is not None
    assert scout.found.found_by == scout.name
    return codec.decode(scout.found.instance, claim.instance_type)


class Witness:
    """A conclusion and a certificate that follow a predicate, and record their instances."""

    def __init__(self, hint, violated, value=1.0):
        self.seen = []
        self.violated = violated
        self.value = value
        self.hint = hint

    def conclusion(self):
        """The conclusion as a function whose argument has the type `hint`."""
        from attsvm.theory import Slack

        def conclude(case, shift: float = 0.0) -> Slack:
            self.seen.append(case)
            wrong = shift > 0 or self.violated(case)
            return Slack(-1.0 if wrong else self.value, 0.0)

        conclude.__annotations__["case"] = self.hint
        return conclude

    def certify(self, case, shift=0.0):
        """The ball that certifies the conclusion or its negation."""
        return arb(-1 if shift > 0 or self.violated(case) else self.value)

    def keys(self):
        """The instances that were examined, as JSON."""
        return [json.dumps(codec.encode(case), sort_keys=True) for case in self.seen]


def witnessed(name, hint, violated=lambda case: False, data=NOTHING, **rest):
    """A witness, and the claim whose conclusion is the witness."""
    witness = Witness(hint, violated)
    return witness, build(name, witness.conclusion(), witness.certify, data=data, **rest)

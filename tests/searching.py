"""Draws from strategies, and searches for counterexamples without the claim's own instances."""

import zlib
from dataclasses import replace

import numpy as np
from hypothesis import Phase, given, seed, settings

from attsvm.theory import PROFILES
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout
from attsvm.theory.verification.check import check_part


def drawn(strategy, number, start=0):
    """A number of cases drawn from a strategy without shrinking; `start` is the seed."""
    cases = []

    @seed(start)
    @settings(max_examples=number, database=None, deadline=None, phases=[Phase.generate])
    @given(strategy)
    def draw(case):
        cases.append(case)

    draw()
    return cases


def nightly():
    """Whether tests run in the profile `anew`, as they do every night."""
    return settings.default == settings.get_profile("anew")


def few(many):
    """A quarter of a number of seeded draws, rounded up; the full number every night."""
    return many if nightly() else -(-many // 4)


def tenth(things, name):
    """Every tenth item of a list, at least one, from an offset given by the digest of a name.

    Nightly runs take all items.
    """
    start = zlib.crc32(name.encode()) % max(1, min(10, len(things)))
    return things if nightly() else things[start::10]


def untold(claim):
    """The claim without its explicit instances."""
    siblings = tuple(replace(s, examples=()) for s in claim.siblings)
    return replace(claim, examples=(), siblings=siblings)


def screened(claim, part="", looks=150):
    """The scout of one part after the screening searcher alone, by far the fastest searcher."""
    scout = Scout(Tally(claim, claim.part(part), 0), "screen", looks)
    GUIDED["screen"].guide(scout, np.random.default_rng(0))
    return scout


def searched(claim, part="", start=0, profile=PROFILES["quick"]):
    """The outcome of a check of one part of a claim; the check must not end in an error."""
    outcome = check_part(claim, claim.part(part), profile, start)
    assert outcome.error is None
    return outcome

"""Mutants of linked proofs, all of them: `python -m benchmarks.linked_mutants`.

For each proof it reports how many of these turn red:

- a premise left out of a decided fact: no certificate may show the fact without it;
- a hypothesis left out, or weakened from > to >= or by a thousandth: the proof must fail, or the
  theorem is sharper than its reading;
- a conclusion made wider: the proof must not conclude it.

Then it evaluates all facts on runs, none of which may be false. Exits with 1 if a premise is idle,
a wider conclusion is concluded, or a fact is false. Hypotheses that can be weakened are listed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from attsvm.errors import ProofError
from attsvm.primitives import hypotheses, steps
from attsvm.primitives.descent_model import model_of
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.proof import mutants
from attsvm.theory.proof.evaluation import evaluated
from attsvm.theory.proof.facts import Proof, Sequent, proof
from properties._support import small_runs
from symbolic import alternatives, basins
from symbolic.basin_facts import converges
from symbolic.sim import lemma_3_12, logistic_lipschitz

PROOFS: dict[str, Callable[[], str]] = {
    "symbolic.basins:prove": basins.prove,
    "symbolic.basins:prove_attention": basins.prove_attention,
    "symbolic.sim.lemma_3_12:prove": lemma_3_12.prove,
    "symbolic.sim.logistic_lipschitz:prove": logistic_lipschitz.prove,
}
SUPPOSED: tuple[Any, ...] = (
    alternatives.UNIQUE_OPTIMUM,
    alternatives.SMOOTH_SLOPE,
    alternatives.FALLING,
    steps.SHORT,
    alternatives.IN_BASIN,
    hypotheses.SEVERAL_TOKENS,
    alternatives.SOLUTION,
)
"""The hypotheses of the proof from the basin, in the order that `converges` takes them."""
RUNS = (
    small_runs.UNEVEN_SCORES,
    small_runs.NOT_TIGHT,
    replace(small_runs.UNEVEN_SCORES, loss="log-loss"),
    replace(small_runs.UNEVEN_SCORES, loss="exponential"),
    replace(small_runs.NOT_TIGHT, loss="correlation"),
    replace(small_runs.UNEVEN_SCORES, step=0.25),
)


def chain(prove: Callable[[], str]) -> Proof:
    """Return the facts of a linked proof."""
    with recorded() as result:
        prove()
    (whole,) = result.linked
    return whole


def weakened() -> Iterator[tuple[str, Any, int]]:
    """Yield hypotheses from the basin with one sequent changed, with what has changed."""
    for place, what in enumerate(SUPPOSED):
        sequents = [*what.proposition()]
        for k, one in enumerate(sequents):
            for change, text in mutants.weaker(one.proposition):
                own = [*sequents[:k], Sequent(text, one.assumptions), *sequents[k + 1 :]]
                name = f"{what.says}, sequent {k + 1}: {change}"
                yield name, replace(what, proposition=lambda own=own: own), place


def stands(place: int, what: Any) -> bool:
    """Return whether the proof from the basin goes through with another hypothesis."""
    try:
        with proof():
            converges(*SUPPOSED[:place], what, *SUPPOSED[place + 1 :])
    except ProofError:
        return False
    return True


def main() -> int:
    """Print the figures; return 1 if something is green that must be red."""
    bad = 0
    for name, prove in PROOFS.items():
        begun = time.perf_counter()
        whole = chain(prove)
        seconds = time.perf_counter() - begun
        pairs = [*mutants.premises(whole)]
        idle = [pair for pair in pairs if not mutants.needed(*pair)]
        wider = [
            (fact, change)
            for fact in whole.concluded
            for change, text in mutants.wider(fact.proposition)
        ]
        green = [
            (fact, change)
            for fact in whole.concluded
            for change, text in mutants.wider(fact.proposition)
            if fact.proposition.says(text)
        ]
        bad += len(idle) + len(green)
        print(f"{name}: {len(whole.facts)} facts, {seconds:.1f} s")
        print(f"  premises left out: {len(idle)} of {len(pairs)} green")
        print(f"  conclusions made wider: {len(green)} of {len(wider)} green")
        for one in (*idle, *green):
            print(f"    {one!r}")
    tried, sharper = 0, []
    for name, what, place in weakened():
        tried += 1
        if stands(place, what):
            sharper.append(name)
    print(f"hypotheses weakened, from the basin: {len(sharper)} of {tried} green")
    for name in sharper:
        print(f"  can be weakened: {name}")
    asked, false = 0, []
    for prove in (basins.prove, basins.prove_attention):
        whole = chain(prove)
        for run in RUNS:
            tally = evaluated(whole, model_of(run, steps=60))
            asked += len(tally.confirmed) + len(tally.false)
            false += tally.false
    print(f"facts on {len(RUNS)} runs: {asked} asked, {len(false)} false")
    for fact, values in false:
        print(f"  {fact!r} at {values!r}")
    return 1 if bad or false else 0


if __name__ == "__main__":
    sys.exit(main())

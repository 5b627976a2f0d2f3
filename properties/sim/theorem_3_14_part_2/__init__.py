"""Theorem 3.14 under part 2 of assumption 3.10: all rivals of an optimal token score the same.

Points that the text leaves open are read as in part 1: the programme of definition 3.8, the
orientation of X, L(X) and L_X. As printed it falls for two reasons. The loss of definition 3.6
increases in <f, h>, so descent moves away from the tokens of highest score: <X, X^mm> decreases at
every step (see part 1). And nothing says that the Att-SVM has a solution: with a single token X^mm
= 0 has no direction, with two inputs of opposite constraints there is no X^mm. `amended-1` takes
the decreasing loss g(-u) and still falls from zero. The input with the larger score gap can move
another one to its worse token for ever (`NOT_ALIGNED`).

Three repairs are proved. From the start of `amended-3` rivals may have any scores. `amended-2` has
a single input, and holds for every start and every step. Steps are long only while attention to the
optimal token is not small, so it stays above a constant. `amended-4` starts from zero with two
inputs of two tokens and the same two scores in both. The input whose margin falls at first has a
gradient that grows with its distance, and returns. Three such inputs may fail from zero
(`OUTNUMBERED`), and so may two of three tokens (`THREE_EACH`).

Longer steps than 1/L leap out of the basin of `amended-3` (`LEAPING`). In `amended-4` the input
whose margin fell then returns in so long a step that the other one is lost for ever (`RETURNING`).
"""

from functools import partial

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING, opposed_data, rival_data, runs, tight_data
from attsvm.primitives.hypotheses import (
    BASIN,
    EQUAL_RIVALS,
    FEASIBLE,
    ONE_INPUT,
    SEVERAL_TOKENS,
    UNIQUE,
    ZERO_START,
)
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Reading, Statement, changed
from properties._support import small_runs as small
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import training
from properties.sim.theorem_3_14_part_2 import instances

THEOREM = Statement(
    "sim/theorem-3.14-part-2",
    rests_on=("sim/definition-3.6", "sim/definition-3.8", "sim/orientation", "sim/lemma-3.13"),
    source=SOURCE,
    place="Theorem 3.14 with assumption 3.10",
    printed="Suppose Assumption 3.10 on the tokens' score hold. Let X(k) denote the k-th iteration "
    "of X. Then, Algorithm W-GD (Definition 3.7) with the step size eta <= 1/L_X and any starting "
    "point X(0) satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=stepped(Descent, runs(rival_data(), 0, 2)),
    conclusion=training.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [small.ALL_TIED, small.TIED_APART],
        SEVERAL_TOKENS: [small.ONE_TOKEN],
        EQUAL_RIVALS: [small.PASSED_OVER],
        FEASIBLE: [small.NO_QUERY, instances.OPPOSED],
        instances.SAME: [instances.UNEVEN],
        ZERO_START: [instances.FAR_APART],
        SHORT: [LEAPING, instances.RETURNING],
    },
    readings={
        "literal": Reading(
            "refuted",
            read=training.UNDEFINED,
            fixed={"loss": PRINTED},
            under=(UNIQUE, EQUAL_RIVALS, SHORT),
            examples=(small.TWO_TOKENS, small.ONE_TOKEN, instances.OPPOSED),
            siblings={
                "any scores of rivals": changed(drop=[EQUAL_RIVALS], examples=[small.THREE_SCORES]),
                **training.OTHER_TARGETS,
            },
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, EQUAL_RIVALS, SEVERAL_TOKENS, FEASIBLE, SHORT),
            variables=stepped(Descent, runs(rival_data(), 0, 2), training.protocol),
            examples=(small.TWO_TOKENS, small.NOT_ALIGNED),
            siblings={
                **training.OTHER_DIRECTIONS,
                "infeasible programme": changed(drop=[FEASIBLE], examples=[instances.OPPOSED]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_one_input",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, EQUAL_RIVALS, SEVERAL_TOKENS, FEASIBLE, ONE_INPUT),
            variables=stepped(
                Descent, runs(rival_data(), 0, 2), partial(training.protocol, n=1), steps=ANY
            ),
            examples=(
                small.TWO_TOKENS,
                instances.FAR_START,
                instances.SAME_RIVALS,
                instances.PUBLISHED,
            ),
            siblings={
                **training.OTHER_DIRECTIONS,
                "several inputs": changed(
                    drop=[ONE_INPUT], variables=stepped(Descent, runs(opposed_data(), 0), steps=ANY)
                ),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=stepped(
                Descent, runs(st.one_of(rival_data(), tight_data()), 0, 1), training.near_solution
            ),
            examples=(small.TWO_TOKENS,),
            siblings={**training.OTHER_DIRECTIONS, **training.any_start()},
        ),
        "amended-4": Reading(
            "proved",
            proof="symbolic.sim.pair_facts:prove_pair",
            fixed={"loss": REPAIRED},
            under=(FEASIBLE, instances.SAME, instances.PAIRS, ZERO_START, SHORT),
            variables=stepped(Descent, instances.pairs(), fixed=("start",)),
            examples=(instances.REJOINED,),
            siblings={
                **training.other_directions(instances.REJOINED),
                "three inputs": changed(drop=[instances.PAIRS], examples=[instances.OUTNUMBERED]),
                "three tokens": changed(drop=[instances.PAIRS], examples=[instances.THREE_EACH]),
            },
        ),
    },
)

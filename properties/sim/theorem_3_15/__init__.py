"""Theorem 3.15: nearly equal scores of rivals suffice.

gamma_it is the score of token t of input i, opt_i the token of highest score, and its rivals are
the other tokens of the input. X-GD and L_x are not defined in print. They are read as W-GD and the
constant of theorem 3.14; the programme of definition 3.8, the orientation of X, and L(X) are read
as in `theorem_3_14_part_1`. Rivals of equal scores meet the condition for every delta, so failure
on such data refutes the theorem for every delta. `literal-1` falls if the gradient is zero
(`OPPOSED`). `OPPOSED` has no X^mm; if there is one, the norm does diverge (`amended-3`, proof in
`attsvm.primitives.descent_limits`). `literal-2` falls because the loss of definition 3.6 increases
in the score, `amended-1`, from zero, by `NOT_ALIGNED`.

If no input loses its optimal token, no delta is needed (`amended-2`). In `sharp` inputs are
aligned, which a single input always is. There the theorem is true for every start, with delta_i =
g_i s_i/(1 - s_i). Here g_i is the gap of the two best scores and s_i the start's attention to the
optimal token (s_i = 1/T at zero). All that its proof uses of delta is that the start attends to
more than the second-best score in each input, which `sharp-2` says. No constant above 1 would do.
Let the second-best token have little attention at the start, and lie so far away that its logit
comes to exceed all others. With delta = c g s/(1 - s), c > 1, the attended score lies below the
second-best one, which therefore gains attention for ever (`OUTRUN`: tokens -1, 64, 0, c < 3/2).

The counterexamples to the literal readings work with every step; amended readings have steps of at
most 1/L_X. Longer steps leap out of the basin of `amended-2` (`LEAPING`), and past the optimal
token in `sharp` and `sharp-2` (`THROWN`, of four tokens: see `sim/theorem-3.14-part-1:sharp`). If
rivals may be delta apart, tied optimal tokens with delta = 0 are allowed (`ALL_TIED`). More is in
`symbolic/sim/theorem_3_15.py`.
"""

from fractions import Fraction

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import (
    LEAPING,
    LOCAL_TRAP,
    rival_data,
    runs,
    tight_data,
    towards_solution,
)
from attsvm.primitives.hypotheses import (
    BASIN,
    EQUAL_RIVALS,
    FEASIBLE,
    SEVERAL_TOKENS,
    TWO_SCORES,
    UNIQUE,
)
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties._support import small_runs as small
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import training
from properties.sim.theorem_3_15 import nearly_equal_scores as nearly_equal

ANY_DELTA = {"delta": "any positive number, as equal scores differ by less than each of these"}

THEOREM = Statement(
    "sim/theorem-3.15",
    rests_on=(
        "sim/definition-3.6",
        "sim/definition-3.8",
        "sim/orientation",
        "sim/theorem-3.14-part-2",
    ),
    source=SOURCE,
    place="Theorem 3.15",
    printed="For any initialization X(0), there exists a dataset dependent sufficiently small "
    "delta > 0 such that the following holds: Suppose non-optimal scores obey |gamma_it - "
    "gamma_i,tau| <= delta for all t, tau != opt_i, i in [m]. Then, Algorithm X-GD, with eta <= "
    "1/(2 L_x) obeys lim ||X(k)||_F = infinity and lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=stepped(Descent, runs(rival_data(), 0, 2)),
    conclusion=training.DIRECTION,
    cost=10,
    violating={
        EQUAL_RIVALS: [nearly_equal.BALANCED],
        UNIQUE: [small.TIED_ASIDE],
        SEVERAL_TOKENS: [small.ONE_TOKEN],
        FEASIBLE: [small.NO_QUERY],
        TWO_SCORES: [small.ONE_TOKEN],
        SHORT: [LEAPING],
        nearly_equal.SHORT_EACH: [nearly_equal.THROWN],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read={**training.UNDEFINED, **ANY_DELTA},
            fixed={"loss": PRINTED},
            under=(EQUAL_RIVALS, nearly_equal.HALF),
            variables=nearly_equal.LEVEL,
            conclusion=training.NORM,
            examples=(nearly_equal.halved(nearly_equal.OPPOSED),),
            siblings={
                "any scores": changed(
                    drop=[EQUAL_RIVALS], examples=[nearly_equal.halved(nearly_equal.BALANCED)]
                ),
                "on the decreasing loss": changed(fixed={"loss": REPAIRED}),
            },
        ),
        "literal-2": Reading(
            "refuted",
            read={**training.UNDEFINED, **ANY_DELTA},
            fixed={"loss": PRINTED},
            under=(EQUAL_RIVALS, nearly_equal.HALF),
            variables=nearly_equal.LEVEL,
            examples=(nearly_equal.halved(small.TWO_TOKENS),),
            siblings={
                "any scores": changed(
                    drop=[EQUAL_RIVALS], examples=[nearly_equal.halved(small.THREE_SCORES)]
                ),
                **training.OTHER_TARGETS,
            },
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            under=(EQUAL_RIVALS, UNIQUE, SEVERAL_TOKENS, FEASIBLE, nearly_equal.HALF),
            variables=stepped(Descent, runs(rival_data(), 0, 2), steps=(0.5, 0.25)),
            examples=(nearly_equal.halved(small.NOT_ALIGNED),),
            siblings=training.other_directions(nearly_equal.halved(small.UNEVEN)),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=stepped(Descent, runs(tight_data(), 0, 1), towards_solution),
            conclusion=nearly_equal.BOTH,
            examples=(small.UNEVEN_SCORES,),
            siblings={**training.OTHER_DIRECTIONS, **training.any_start(LOCAL_TRAP)},
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.divergence_facts:prove_rising",
            fixed={"loss": PRINTED},
            under=(EQUAL_RIVALS, FEASIBLE, TWO_SCORES),
            variables=stepped(Descent, runs(nearly_equal.beside_level(), 0, 2), steps=ANY),
            conclusion=training.NORM,
            examples=(small.TIED_BESIDE,),
        ),
        "sharp": Reading(
            "holds",
            strength="better",
            proof="symbolic.sim.theorem_3_15:prove_aligned",
            fixed={"loss": REPAIRED},
            under=(
                SEVERAL_TOKENS,
                FEASIBLE,
                INPUTS_ALIGNED,
                nearly_equal.WITHIN,
                nearly_equal.SHORT_EACH,
            ),
            variables=nearly_equal.ALIGNED,
            conclusion=nearly_equal.BOTH,
            examples=(small.TWO_TOKENS,),
            siblings={
                **training.OTHER_DIRECTIONS,
                "less than 3/2 delta": changed(
                    drop=[nearly_equal.WITHIN],
                    under=[
                        Hypothesis(
                            "rivals' scores less than 3/2 delta apart",
                            lambda run: nearly_equal.within(run, 1.5),
                        )
                    ],
                    examples=[nearly_equal.OUTRUN],
                ),
                "at most delta": changed(
                    drop=[nearly_equal.WITHIN],
                    under=[Hypothesis("rivals' scores at most delta apart", nearly_equal.at_most)],
                    examples=[small.ALL_TIED],
                ),
                **nearly_equal.NEED_NOT_BE_ALIGNED,
            },
        ),
        "sharp-2": Reading(
            "holds",
            strength="best known",
            proof="symbolic.sim.theorem_3_15:prove",
            fixed={"loss": REPAIRED},
            under=(
                SEVERAL_TOKENS,
                FEASIBLE,
                INPUTS_ALIGNED,
                nearly_equal.ABOVE_SECOND,
                nearly_equal.SHORT_EACH,
            ),
            variables=nearly_equal.ALIGNED,
            conclusion=nearly_equal.BOTH,
            examples=(
                small.TWO_TOKENS,
                nearly_equal.far(0.359375, 1.0),
                nearly_equal.far(0.125, 2.0),
            ),
            siblings={
                **training.OTHER_DIRECTIONS,
                "rivals may score 17/16 as far below the second-best token": changed(
                    drop=[nearly_equal.ABOVE_SECOND],
                    under=[
                        Hypothesis(
                            "sum_t s_t (second - gamma_t) over rivals is below 17/16 s_i g_i",
                            lambda run: nearly_equal.starts_above(run, Fraction(17, 16)),
                        )
                    ],
                    examples=[nearly_equal.far(0.37890625, 1.0)],
                ),
                **nearly_equal.NEED_NOT_BE_ALIGNED,
            },
        ),
    },
)

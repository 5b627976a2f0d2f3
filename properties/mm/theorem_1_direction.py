"""Theorem 1, second half: descent on p converges in direction to p(alpha).

"Suppose Assumption A holds. Then, the gradient descent iterates p(k+1) = p(k) - eta grad_p L(v(k),
p(k)) with proper eta and p(0) satisfies ... lim p(k)/||p(k)|| = p(alpha)/||p(alpha)||."

The sentence does not say which alpha it means, which p(0) and eta are proper, and how v(k) moves.
The section is on p alone, so v is constant here. The talk names no loss. Assumption A is met by
-x, exp(-x) and log(1 + exp(-x)), for example.

Nothing says that p(alpha) exists (for two equal keys it does not), nor that optimal tokens are
unique. Even with both, `literal-1` falls from zero with one input: for keys 1, 0, -2 of scores 1,
-5, 0 p(alpha) is 1, but p tends to minus infinity, towards the key -2. `literal-2` falls with two
inputs, keys (0, 1), 0 of scores 0, 0 and (1, 0), 0 of scores 1, 0: p(alpha) is (1, 1) or (1, -1),
but every run moves along (1, 0) alone.

`amended-1` takes starts with a risk gap below a bound. The keys of `literal-1` show that 105% of
this bound is too much. By `amended-3` proper starts exist if optimal tokens are unique.

With steps of 256/L `amended-1` fails (`LEAPING`), and `amended-3` with 64/L (`THROWN`).
"""

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, EXISTS, LOWER_RIVALS, ONE_INPUT, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, SHORT_STEPS, flattened, stepped
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_descent import near_basin
from properties.mm._support.prompt_limits import (
    DIRECTION,
    DIRECTION_FROM_PROPER,
    DIRECTION_FROM_SOME,
)

THEOREM = Statement(
    "mm/theorem-1-direction",
    rests_on=("mm/theorem-1-norm", "mm/p-svm"),
    source=SOURCE,
    place="Theorem I, convergence of GD, second item",
    printed="Suppose Assumption A holds. Then, the gradient descent iterates p(k+1) = p(k) - "
    "eta grad_p L(v(k), p(k)) with proper eta and p(0) satisfies ... lim p(k)/||p(k)|| = "
    "p(alpha)/||p(alpha)||",
    variables=stepped(Descent, cases.comparable(0, 2)),
    conclusion=DIRECTION,
    cost=12,
    violating={
        SLOPED_LOSS: [cases.FLAT, cases.RISING],
        EXISTS: [cases.ONE_KEY],
        UNIQUE: [cases.ASIDE],
        LOWER_RIVALS: [cases.STUCK, cases.TRAPPED],
        ONE_INPUT: [cases.SECOND_TRAPPED],
        SHORT: [cases.LEAPING, cases.THROWN],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "alpha": "the optimal tokens",
                "v(k)": "constant",
                "proper": f"any p(0), and any step of {SHORT_STEPS}",
            },
            under=(STRICT_LOSS, SHORT),
            variables=stepped(Descent, flattened(cases.comparable(0, 2))),
            examples=(cases.TRAPPED, cases.SECOND_TRAPPED, cases.ONE_KEY, cases.TIED),
            siblings=dict(list(cases.OTHER_DIRECTIONS.items())[:2]),
        ),
        "literal-2": Reading(
            "refuted",
            read={
                "alpha": "the optimal tokens",
                "v(k)": "constant",
                "proper": f"some p(0), and some step of {SHORT_STEPS}",
            },
            under=(STRICT_LOSS, SHORT),
            variables=Records(Descent, flattened(cases.comparable(0)), fixed=("step",)),
            conclusion=DIRECTION_FROM_SOME,
            examples=(cases.ASIDE, cases.ONE_KEY),
            siblings={"from p(0) = 0": changed(start="zero", examples=[cases.TRAPPED])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.basins:prove",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, BASIN, SHORT),
            variables=stepped(
                Descent, st.one_of(cases.comparable(0, 1), cases.trapping()), cases.larger
            ),
            conclusion=DIRECTION,
            examples=(cases.UNEVEN, cases.TWO_KEYS),
            siblings={
                **cases.OTHER_DIRECTIONS,
                "a start of up to 1.05 times the risk gap": changed(
                    drop=[BASIN],
                    under=[
                        Hypothesis("L(p(0)) - L_* < 1.05 min_i [l(second) - l(best)]/n", near_basin)
                    ],
                    examples=[cases.TRAPPED_NEAR],
                ),
                "any start": changed(drop=[BASIN], variables=stepped(Descent, cases.opposed())),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_one_input",
            under=(SLOPED_LOSS, EXISTS, LOWER_RIVALS, ONE_INPUT),
            variables=stepped(Descent, cases.alone(), steps=ANY),
            examples=(cases.UNEVEN, cases.TWO_KEYS),
            siblings=cases.OTHER_DIRECTIONS,
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove_from_proper_start",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, SHORT),
            variables=stepped(
                Descent, st.one_of(cases.comparable(0), cases.unevenly()), cases.gaussian
            ),
            constants={"size": 1},
            conclusion=DIRECTION_FROM_PROPER,
            examples=(cases.TRAPPED, cases.STUCK, cases.SECOND_TRAPPED, cases.TWO_KEYS),
            siblings={**cases.OTHER_DIRECTIONS, "from -r p(alpha)": changed(size=-1)},
        ),
    },
)

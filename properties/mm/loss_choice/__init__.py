"""The decreasing loss changes the path of descent on p, not the max-margin direction it reaches.

No sentence of the slides says so, and they name no loss: theirs is "a decreasing loss". This is
read off runs with the losses -x, exp(-x) and log(1 + exp(-x)). Below l is one of the last two. The
basin of a loss is the set of p whose risk exceeds its infimum by less than min_i [l(second) -
l(best)]/n. Best and second are the two highest scores of input i.

`literal-1` falls from zero with two inputs: tokens (1, 0), 0 and (-2, 1), 0, labels 1, head (4, 9),
so scores 4, 0 and 1, 0. On exp(-x) and log(1 + exp(-x)) the first input has small gradients, as its
score is high. Descent reaches p(alpha) = (1, 3), from a start that cannot lose the optimal tokens.
On -x the first input has large gradients, and attention of the second one converges to its
lower-scored token.

`literal-2` compares the gradients at p(0). A single input has one direction for all losses. Its
gradient at p is |l'(u)| times that of the risk of -x, where u is the attended score at p
(`amended-2`). So gradient flow of every loss follows one field of directions, at its own speed.
Paths of descent can differ nevertheless. Their first steps have one direction but different
lengths, so that the second steps start at different points. With two keys, as in
`TWO_KEYS_CENTRED`, they do not differ. Every gradient is along the difference of the keys, and
descent on every decreasing loss stays on one ray. `amended-1` is shown for each loss in
`symbolic/basins.py`.
"""

from dataclasses import replace

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import EXISTS, ONE_INPUT, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_descent import prompting
from properties.mm.loss_choice import conclusion
from properties.mm.loss_choice.conclusion import IN_BOTH

DIVIDED = prompting(
    [[[1.0, 0.0], [0.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]], [[4.0, 0.0], [1.0, 0.0]],
    loss="exponential",
)  # fmt: skip
DRAGGED = prompting(
    [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0], [11, 10]], [1, 3], "exponential"
)
"""In the basin of -x; exp(-x) is flat at high scores, and the second input loses its token."""
TWO_KEYS_CENTRED = prompting([[[2, 1], [0, 0]]], [[1, -1]], loss="log-loss")
"""From zero the attended score is 0, so that the gradients of both risks are rational."""

NAMED = Hypothesis(
    "l is exp(-x) or log(1 + exp(-x))",
    lambda case: case.loss in ("exponential", "log-loss"),
    checked="fact(loss in ('exponential', 'log-loss'))",
)

CHOICE = Statement(
    "mm/loss-choice",
    rests_on=("mm/theorem-1-direction",),
    source=SOURCE,
    place="Convergence of GD on p, figures",
    read_off="experiments",
    printed="The decreasing loss changes the path of descent on p, not the max-margin direction "
    "it reaches",
    variables=stepped(Descent, cases.comparable(0, 2)),
    conclusion=conclusion.ONE_LIMIT,
    cost=15,
    violating={
        EXISTS: [cases.ONE_KEY],
        UNIQUE: [cases.ASIDE],
        IN_BOTH: [DRAGGED, DIVIDED],
        ONE_INPUT: [replace(cases.SECOND_TRAPPED, loss="log-loss")],
        SLOPED_LOSS: [cases.FLAT],
        SHORT: [cases.LEAPING],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"the max-margin direction": "one direction"},
            constants={"other": "correlation", "towards": "selected"},
            conclusion=conclusion.SELECTED_LIMIT,
            under=(NAMED,),
            variables=stepped(Descent, cases.comparable(0, 2), steps=ANY),
            examples=(DIVIDED,),
            siblings={
                "an increasing loss": changed(other="logistic", examples=[TWO_KEYS_CENTRED]),
                "the direction of the worst tokens": changed(towards="worst"),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"the path of descent": "the direction in which it starts"},
            under=(NAMED,),
            variables=Records(Descent, cases.comparable(0), fixed=("step",)),
            conclusion=conclusion.differ,
            cost=3,
            examples=(TWO_KEYS_CENTRED,),
            siblings={
                "a and b at an angle of sine above 1/4": changed(sine="0.25"),
                "a and b at an angle of sine above 1/2": changed(sine="0.5"),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.basins:prove",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, IN_BOTH, SHORT),
            constants={"other": "correlation", "towards": "optimal"},
            variables=stepped(
                Descent, st.one_of(cases.comparable(0, 1), cases.apart()), cases.larger
            ),
            examples=(cases.UNEVEN, cases.TWO_KEYS),
            siblings={
                "an increasing loss": changed(other="logistic"),
                "the direction of the worst tokens": changed(towards="worst"),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.mm.loss_choice:prove",
            under=(ONE_INPUT, SLOPED_LOSS),
            variables=Records(Descent, cases.compared(), fixed=("step",)),
            conclusion=conclusion.agree,
            cost=3,
            examples=(cases.UNEVEN, replace(cases.TRAPPED, loss="log-loss"), cases.TWO_KEYS),
            siblings={
                "an increasing loss": changed(other="logistic"),
                "a = b": changed(length="same"),
            },
        ),
    },
)

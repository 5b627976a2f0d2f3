"""Section 3.3, first bound: the exponentials of the logits are Lipschitz.

The section lists no condition on R, and the minus signs of its seven bounds are lost in our text.
`literal-1` uses the condition of lemma 3.13, which this lemma prepares. `literal-2` leaves out R >=
4, which this section does not print.

literal-2 falls for A = 1/2, x = 1, y = 0, R = 1/2: exp(1/2) - 1 = 0.6487 against exp(1/4)/2 =
0.6420. R >= 1 is the least condition that will do: A = R, x = 1, y -> 1 needs R exp(R). sharp-1 is
attained for every R and ||A|| > 0 by A = ||A|| e_1, x, y -> R / ||A||, with any number of tokens;
so exp(R^2) should be exp(R). If ||x|| and ||y|| rather than ||A x|| and ||A y|| are bounded by R,
logits reach R^2, and the printed constant is the least: A = R, x, y -> R.

The constant is far too large from R = 4 on. Proof (`symbolic.sim.basic_1`): e^a - e^b <= e^max(a,
b) |a - b|, logits are at most R, and R <= R^2 from R = 1 on.
"""

from fractions import Fraction

from attsvm.theory import Fitted, Hypothesis, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE
from properties.sim._support import bounds
from properties.sim._support.entry import LARGE, LISTED_RADIUS, LOGITS, MATRIX, on_line

HALF, RIM = Fraction(1, 2), Fraction(15, 16)
FAR = on_line([1], x=18, y=17, R=4)
WIDE = on_line([2**30], x=0, y=Fraction(1, 2**30))
ONE = on_line([1], x=4, y=3, R=4)
STEEP = on_line([1], x=1, y=Fraction(4095, 4096), R=1)
"""One token at the edge of the ball of radius 1, at which every constant is attained."""

BEYOND = {
    "logits beyond R": changed(drop=[LOGITS], examples=[FAR]),
    "||A|| beyond R": changed(drop=[MATRIX], examples=[{**WIDE, "R": 4}]),
}
POINTS_BOUNDED = Hypothesis(
    "||x||, ||y|| <= R",
    lambda m, v: m.all_of(m.at_most(m.norm(v.x), v.R), m.at_most(m.norm(v.y), v.R)),
)


def bounded(m: Namespace, v: Values, constant: str = "printed") -> Comparison:
    """Return that ||exp(A x) - exp(A y)|| is at most the named constant times ||x - y||."""
    constants = {
        "printed": lambda: v.R * m.exp(m.square(v.R)),
        "lower": lambda: v.R * m.exp(v.R),
        "radius": lambda: v.R,
        "norm": lambda: m.spectral(v.A) * m.exp(v.R),
    }
    change = m.exp(v.A @ v.x) - m.exp(v.A @ v.y)
    return m.at_most(m.norm(change), constants[constant]() * bounds.distance(m, v))


BOUND = Statement(
    "sim/basic-1",
    source=SOURCE,
    place="Section 3.3, first bound",
    printed="||exp(A x) - exp(A y)||_2 <= R exp(R^2) ||x - y||_2",
    variables={**bounds.POINTS, "R": Fitted()},
    conclusion=bounded,
    readings={
        "literal-1": Reading(
            "proved",
            read={"R": "the bound of lemma 3.13"},
            proof="symbolic.sim.basic_1:prove_published",
            under=(LISTED_RADIUS, LOGITS, MATRIX),
            examples=(ONE,),
            siblings={
                **BEYOND,
                "R below 4": changed(
                    drop=[LISTED_RADIUS], examples=[on_line([HALF], x=1, y=0, R=HALF)]
                ),
                "exp(R^2) left out": changed(constant="radius"),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"R": "the bound of lemma 3.13, without R >= 4"},
            under=(LOGITS, MATRIX),
            variables=bounds.BLOCK,
            examples=({"a": [1], "tokens": [[HALF]], "X": [[1]], "Y": [[0]], "R": HALF},),
            siblings={
                "exp(R^2) left out": changed(constant="radius"),
                "95% of the right side": changed(tightened="0.95"),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.basic_1:prove_published",
            under=(LARGE, LOGITS, MATRIX),
            tight=True,
            examples=(ONE, STEEP),
            siblings={
                **BEYOND,
                "R = 15/16": changed(
                    drop=[LARGE], examples=[on_line([RIM], x=1, y=Fraction(255, 256), R=RIM)]
                ),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.basic_1:prove",
            constants={"constant": "norm"},
            under=(LOGITS,),
            tight=True,
            examples=(ONE, STEEP),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.basic_1:prove_in_ball",
            under=(POINTS_BOUNDED, MATRIX),
            tight=True,
            examples=(ONE, STEEP),
            siblings={
                "||A|| beyond R": changed(drop=[MATRIX], examples=[{**WIDE, "R": 1}]),
                "exp(R) in place of exp(R^2)": changed(constant="lower"),
            },
        ),
    },
)

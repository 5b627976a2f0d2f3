"""Section 3.3, fifth bound: the residual c is Lipschitz.

The domain is that of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). c is not defined. Its
indices are those of the loss, so it may be <f(x), h(z)> - b; the norm is that of vectors, so it may
be f(x) - z.

literal-1 falls, with R >= 4 as well, for A = (1, 0), x = 0, y = 1, beta = 2, R = 4 and h = (2^75,
0). The factor R^2 is what ||A_3|| <= R and ||z|| <= R give for h = A_3 z, so the amended reading
adds ||h|| <= R^2; then it holds for every R > 0, by Cauchy and Schwarz from the fourth bound. For c
= f - z there is no such factor, so that R^2 < 1 makes it fall (literal-2): A = (1/8, -1/8), x = 0,
y = 1, R = 1/4. R >= 1 is enough (amended-2), and lemma 3.13 asks for more (literal-3).

sharp, with osc(h) = max h - min h and spread(A) = max ||A_i - A_j|| / sqrt 2, is at most
||h|| ||A|| / 2; it is attained by two tokens of equal weight, x, y -> 0, others as in the fourth
bound. Proof (`symbolic.sim.sharp`): along s the derivative is the covariance of h and s under f,
and a variance is at most a quarter of the squared range.
"""

from fractions import Fraction

from attsvm.theory import Hypothesis, Reading, Real, Statement, Vector, changed
from properties.sim import SOURCE
from properties.sim._support import bounds
from properties.sim._support.entry import LARGE, LISTED_RADIUS, MATRIX, on_line
from properties.sim.basic_5.conclusion import (
    EIGHTH,
    SHORT_LOGITS,
    VALUES,
    block,
    printed,
    sharp,
    vector_change,
)

BOUNDED = Hypothesis("||h|| <= R^2", lambda m, v: m.at_most(m.norm(v.h), m.square(v.R)))


BOUND = Statement(
    "sim/basic-5",
    rests_on=("sim/basic-4",),
    source=SOURCE,
    place="Section 3.3, fifth bound",
    printed="||c(x, z)_{l0,j0,i0} - c(y, z)_{l0,j0,i0}||_2 <= R^2 beta^-2 n exp(3 R^2) ||x - y||_2",
    variables={**bounds.POINTS, "h": Vector("n", (0, 1)), "b": Real(), **bounds.BOUNDS},
    conclusion=printed,
    readings={
        "literal-1": Reading(
            "refuted",
            read={
                "beta": "a lower bound of alpha(x) and alpha(y)",
                "c(x, z)": "<f(x), h(z)> - b",
                "R": "the bound of lemma 3.13, without R >= 4",
            },
            under=bounds.LISTED,
            variables={**bounds.BLOCK, "h": Vector("n", (0, 64, 128))},
            examples=(block([1, 0], 0, 1, h=[2**75, 0], b=0),),
            siblings={
                "the exponential left out": changed(exponential=False),
                "||A|| beyond R": changed(
                    drop=[MATRIX],
                    examples=[block([2**130, -(2**130)], 0, Fraction(1, 2**130), **VALUES)],
                ),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={
                "beta": "a lower bound of alpha(x) and alpha(y)",
                "c(x, z)": "f(x) - z",
                "R": "the bound of lemma 3.13, without R >= 4",
            },
            constants={"c": vector_change},
            under=bounds.LISTED,
            variables={**bounds.BLOCK, "h": None, "b": None, "z": Vector("n")},
            examples=({**block([EIGHTH, -EIGHTH], 0, 1, z=[0, 0]), "R": Fraction(1, 4)},),
            siblings={"the exponential left out": changed(exponential=False)},
        ),
        "literal-3": Reading(
            "proved",
            read={
                "beta": "a lower bound of alpha(x) and alpha(y)",
                "c(x, z)": "f(x) - z",
                "R": "the bound of lemma 3.13",
            },
            proof="symbolic.sim.published:prove_fifth",
            depends_on=("sim/basic-4:literal",),
            constants={"c": vector_change},
            under=(LISTED_RADIUS, *bounds.LISTED),
            variables={"h": None, "b": None, "z": Vector("n")},
            examples=tuple(
                {**case, "z": z} for case, z in zip(bounds.examples(), ([0], [1, 0]), strict=True)
            ),
            siblings={
                **bounds.beyond(z=[0, 0]),
                "R below 4": changed(drop=[LISTED_RADIUS], examples=[SHORT_LOGITS]),
            },
        ),
        "amended-2": Reading(
            "proved",
            read={"c(x, z)": "f(x) - z"},
            proof="symbolic.sim.published:prove_fifth",
            depends_on=("sim/basic-4:literal",),
            constants={"c": vector_change},
            under=(LARGE, *bounds.LISTED),
            variables={"h": None, "b": None, "z": Vector("n")},
            examples=tuple(
                {**case, "z": z} for case, z in zip(bounds.examples(), ([0], [1, 0]), strict=True)
            ),
            siblings={
                **bounds.beyond(z=[0, 0]),
                "R below 1": changed(drop=[LARGE], examples=[SHORT_LOGITS]),
            },
        ),
        "amended": Reading(
            "proved",
            read={"c(x, z)": "<f(x), h(z)> - b"},
            proof="symbolic.sim.published:prove_fifth_of_values",
            depends_on=("sim/basic-4:literal",),
            under=(*bounds.LISTED, BOUNDED),
            examples=tuple(
                {**case, "h": h, "b": 1}
                for case, h in zip(bounds.examples(), ([1], [8, -8]), strict=True)
            ),
            siblings={
                **bounds.beyond(**VALUES),
                "values beyond R^2": changed(
                    drop=[BOUNDED],
                    variables={"h": Vector("n", (0, 64, 128))},
                    examples=[on_line([1, 0], x=0, y=1, h=[2**75, 0], b=0, R=4, beta=2)],
                ),
            },
        ),
        "sharp": Reading(
            "proved",
            read={"c(x, z)": "<f(x), h(z)> - b"},
            proof="symbolic.sim.sharp:prove_fifth",
            under=(),
            variables={"R": None, "beta": None},
            conclusion=sharp,
            tight=True,
            examples=({**bounds.ONE_TOKEN, "h": [1], "b": 0}, {**bounds.BALANCED, **VALUES}),
            siblings={"max |h| in place of max h - min h": changed(size="largest")},
        ),
    },
)

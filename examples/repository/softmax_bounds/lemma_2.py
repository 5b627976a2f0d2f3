"""Lemma 2: the steepest slope of the logistic function."""

from attsvm.theory import Reading, Real, Statement

SLOPE = Statement(
    "bounds/lemma-2",
    source="Two bounds on softmax",
    place="Lemma 2",
    printed="g'(x) <= 1/4 for g(x) = 1/(1 + exp(-x))",
    variables={"x": Real()},
    conclusion=lambda m, v: m.at_most(m.logistic_slope(v.x), m.exact("1/4")),
    readings={
        "literal": Reading(
            "proved",
            proof="softmax_bounds.proofs:slope_is_bounded",
            examples=({"x": 0.0},),
            tight=True,
        ),
    },
)

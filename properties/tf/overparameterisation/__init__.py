"""Over-parameterisation: how likely all tokens are support vectors, against the dimension.

"If all tokens are support vectors of Att-SVM ... This condition holds as d grows (explains blue
bars -> 1)". "If all tokens are support vectors in all Local-SVM's ... Holds as d becomes even
larger (explains red bars -> 1)". No law of the data is named, so any is meant; n and T are fixed,
and "holds as d grows" is read as: its probability tends to 1.

This fails for some laws. Data that stay in three of the d dimensions, such as tokens 2, 1 and 0
along one axis, have the same support vectors in every dimension. It also fails on the language of
sim, whose default has the same probability in every d (`sim/large-dimension`).

For Gaussian tokens the law is known (`sharp`). One input is a simplex. Let h_t be the affine
function that is 1 at token t and 0 at the others. The multiplier of t in the Local-SVM of s is
-<grad h_s, grad h_t>. So all tokens are support vectors of all Local-SVMs exactly if no dihedral
angle is obtuse. Project the T - 2 tokens other than s and t to one point c. The angle of s and t is
obtuse if <x_s - c, x_t - c> < 0, that is |u|^2 < |v|^2 for u = (x_s + x_t)/2 - c and v = (x_s -
x_t)/2. These are independent and Gaussian in m = d - T + 3 dimensions with variances T/(2 (T - 2))
and 1/2. So the probability is I_q(m/2, m/2), q = (T - 2)/(2 (T - 1)), with the regularised
incomplete beta function I. It is at most (1 - 1/(T - 1)^2)^(m/2). If C(T, 2) such bounds add up to
more than 1, the bound of `amended-1` is 0. A triangle has at most one obtuse angle, so its three
probabilities add up; at d = 2 their sum is the well-known 3/4. With orthogonal queries inputs are
independent problems. More is in `symbolic/tf/overparameterisation.py`.
"""

from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import LINEAR_HEAD
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support.laws import SEVERAL
from properties.tf import SOURCE
from properties.tf.overparameterisation import laws
from properties.tf.overparameterisation.chances import BOUND, EXACT, SPHERE, certain
from properties.tf.overparameterisation.laws import Law

IN_LINE = AttentionData.of([[[2], [1], [0]]], [[1]], y=[1], v=[1])
"""In every dimension token 0 is beyond the margin."""

PLACE, HOLDS = (
    "Main results on large d",
    "This condition holds as d grows (explains blue bars -> 1)",
)

SMALL, FLAT = Law(3, 4, 16), Law(1, 3, 2)

SOME = Hypothesis("d >= T - 1", lambda law: law.d >= law.T - 1)
TRIANGLE = Hypothesis("T = 3", lambda law: law.T == 3)

PROBABILITY = Statement(
    "tf/overparameterisation",
    source=SOURCE,
    place=PLACE,
    printed=f"If all tokens are support vectors of Att-SVM ... {HOLDS}. If all tokens are support "
    "vectors in all Local-SVM's ... Holds as d becomes even larger (explains red bars -> 1)",
    variables=Records(AttentionData, attention_data(T=(1, 3))),
    conclusion=certain,
    cost=4,
    violating={SOME: [Law(1, 4, 2)], SEVERAL: [Law(1, 1, 1)], TRIANGLE: [Law(1, 4, 16)]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            read={"as d grows": "for fixed n and T and any law of the data"},
            under=(LINEAR_HEAD,),
            examples=(IN_LINE,),
            siblings={"all tokens support all Local-SVMs": changed(where="Local-SVMs")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"as d becomes even larger": "for fixed n and T and any law of the data"},
            constants={"where": "Local-SVMs"},
            under=(LINEAR_HEAD,),
            examples=(IN_LINE,),
            siblings={"all tokens support the Att-SVM": changed(where="Att-SVM")},
        ),
        "amended-1": Reading(
            "holds",
            proof="symbolic.tf.overparameterisation:prove_bound",
            under=(SOME, SEVERAL),
            variables=Records(Law, laws.drawn(2, (2, 4), (1, 48))),
            conclusion=BOUND,
            cost=20,
            examples=(SMALL, Law(1, 2, 1), Law(1, 3, 24), Law(2, 4, 64)),
            siblings={"a power 16 times as large": changed(power=16, examples=[SMALL, FLAT])},
        ),
        "amended-2": Reading(
            "holds",
            proof="symbolic.tf.overparameterisation:prove_sphere",
            under=(SEVERAL,),
            variables=Records(
                Law,
                st.one_of(laws.drawn(2, (2, 3), (8, 64)), laws.drawn(1, (2, 3), (240, 512))),
            ),  # of one input of three tokens the bound is above 0 from d = 230 on
            conclusion=SPHERE,
            cost=20,
            examples=(Law(1, 2, 64), Law(2, 2, 256), Law(1, 3, 512), Law(2, 3, 16)),
            siblings={
                "an exponent 64 times as large": changed(factor=64, examples=[Law(1, 8, 128)])
            },
        ),
        "sharp": Reading(
            "holds",
            strength="exact",
            proof="symbolic.tf.overparameterisation:prove_triangle",
            under=(TRIANGLE,),
            variables=Records(Law, laws.drawn(2, (3, 3), (2, 12)), fixed=("T",)),
            conclusion=EXACT,
            cost=60,
            examples=(FLAT, Law(1, 3, 1), Law(1, 3, 3), Law(2, 3, 4)),
            siblings={
                "2 in place of 3": changed(angles=2, examples=[FLAT]),
                "one dimension more": changed(more=1, examples=[FLAT]),
            },
        ),
    },
)

"""Abstract: with vanishing regularisation, descent's weights take the direction of the SVM.

"Optimizing the attention layer with vanishing regularization, parameterized by (K,Q), converges in
direction to an SVM solution minimizing the nuclear norm of the combined parameter W = K Q^T.
Instead, directly parameterizing by W minimizes a Frobenius norm objective."

W_lambda minimises L(W) + (lambda/2) ||W||_F^2, and (K_lambda, Q_lambda) minimises L(K Q^T) +
(lambda/2) (||K||_F^2 + ||Q||_F^2), as lambda tends to 0. Each minimises L over the ball of its own
norm, because a better point of the ball would also have a smaller penalised risk. So these are
points of the regularisation paths of theorems 2 and 3. Suppose L_* is approached at infinity only,
that is, the Att-SVM is feasible and some input has two different scores (`tf/lemma-2-limit`). Then
the norms of these minimisers tend to infinity, and these theorems hold with ||W_lambda|| as R. The
converse is false: a point of the path need not be a W_lambda, because L is not convex.

The abstract does not ask for a feasible Att-SVM, without which there is nothing to tend to, nor for
unique optimal tokens. The path and W_lambda differ if no input has two tokens: L is constant, every
W is a minimiser over a ball, and W_lambda = 0. If l is flat at a best score, both turn away from
the SVM together, as in theorems 2 and 3 (literal-1, literal-2).

`penalised_minima` computes W_lambda and (K_lambda, Q_lambda) for two values of lambda, and bounds
the angle of every W_lambda to W^mm. If the nuclear-norm solution is unique, of any rank, it also
bounds the distance of every K_lambda Q_lambda^T/R_lambda to it. With several solutions the bound
says that K_lambda Q_lambda^T is nearly optimal, not how near their set it is; only floats measure
that distance. More is in `symbolic/tf/vanishing_regularisation.py`.
"""

from fractions import Fraction

from attsvm.primitives.hypotheses import LINEAR_HEAD
from attsvm.primitives.loss_hypotheses import STRICT_LOSS
from attsvm.theory import Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import regularisation_paths as cases
from properties.tf.vanishing_regularisation import penalised_minima as minima
from properties.tf.vanishing_regularisation.penalised_minima import (
    DIRECTION,
    SET,
    Path,
    drawn,
    penalised,
)

FLAT_SLOPE, ONE_TOKEN, NO_SOLUTION, PUBLISHED, OF_HEAD, UNEVEN, FLAT_BELOW, SLANTED, TURNING = map(
    penalised,
    (
        cases.FLAT_SLOPE,
        cases.ONE_TOKEN,
        cases.NO_SOLUTION,
        cases.PUBLISHED,
        cases.OF_HEAD,
        cases.UNEVEN,
        cases.FLAT_BELOW,
        cases.SLANTED,
        cases.TURNING,
    ),
)
WORST = {
    "direction of the worst tokens": changed(towards="worst", examples=[OF_HEAD]),
    "W^mm turned by about a 64th": changed(towards="turned", examples=[OF_HEAD]),
}
OTHERS = {
    "half of the solutions": changed(share=Fraction(1, 2), examples=[OF_HEAD]),
    "the Frobenius solution": changed(target="frobenius", examples=[SLANTED]),
}

ABSTRACT = Statement(
    "tf/vanishing-regularisation",
    rests_on=("tf/theorem-2", "tf/theorem-3"),
    source=SOURCE,
    place="Abstract of the paper, (1)",
    printed="Optimizing the attention layer with vanishing regularization, parameterized by (K,Q), "
    "converges in direction to an SVM solution minimizing the nuclear norm of the combined "
    "parameter W = K Q^T. Instead, directly parameterizing by W minimizes a Frobenius norm "
    "objective",
    variables=Records(Path, drawn(cases.paths()), minima.larger),
    conclusion=DIRECTION,
    cost=12,
    violating={name: [*map(penalised, some)] for name, some in cases.VIOLATING.items()},
    readings={
        "literal-1": Reading(
            "refuted",
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=Records(Path, drawn(cases.flat_paths())),
            examples=(FLAT_SLOPE, ONE_TOKEN, NO_SOLUTION),
            siblings=WORST,
        ),
        "literal-2": Reading(
            "refuted",
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=Records(Path, drawn(cases.flat_paths())),
            conclusion=SET,
            examples=(FLAT_SLOPE, ONE_TOKEN, NO_SOLUTION),
            siblings=OTHERS,
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.vanishing_regularisation:prove",
            under=cases.HYPOTHESES,
            examples=(PUBLISHED, UNEVEN, FLAT_BELOW),
            siblings=WORST,
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.vanishing_regularisation:prove_factored",
            under=cases.HYPOTHESES,
            variables=Records(Path, drawn(cases.paths(cases.turned()))),
            cost=24,
            conclusion=SET,
            examples=(PUBLISHED, TURNING, FLAT_BELOW),
            siblings=OTHERS,
        ),
    },
)

"""Optimization formulation: the classification model is the first output of the original model.

"Original model: f(X) = S(X Q K^T X^T) X V. Read only first token's output. Use V = v in R^d.
Classification model: f(X) = v^T X^T S(X K Q^T x_1), scalar output (transposed notation)." The
logit of token t is x_1^T Q K^T x_t in the first formula and x_t^T K Q^T x_1 in the second one. Both
are one number, so the models are equal (`literal`). W = K Q^T of the second one is the transpose of
the Q K^T of the first: with Q K^T in the second formula it is another model.
"""

from attsvm.theory import Integer, Matrix, Reading, Statement, Vector, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.tf import SOURCE


def model(m: Namespace, v: Values, weights: str = "K Q^T", token: str = "first") -> Comparison:
    """Return that the first entry of the original model is the classification model."""
    original = m.softmax(v.X @ v.Q @ v.K.T @ v.X.T) @ (v.X @ v.v)
    W = v.K @ v.Q.T if weights == "K Q^T" else v.Q @ v.K.T
    s = m.softmax(v.X @ (W @ v.X[0]))
    return m.equal(original[0 if token == "first" else -1], v.v @ (v.X.T @ s))


TURNED = {"X": [[1, 0], [0, 1]], "K": [[0, 0], [1, 0]], "Q": [[1, 0], [0, 0]], "v": [1, 0]}

MODEL = Statement(
    "tf/classification-model",
    rests_on=("tf/self-attention-layer",),
    source=SOURCE,
    place="Optimization formulation",
    printed="Original model: f(X) = S(X Q K^T X^T) X V - Read only first token's output - Use V = "
    "v in R^d. Classification model: f(X) = v^T X^T S(X K Q^T x_1) (transposed notation)",
    variables={
        "T": Integer(1, 3),
        "d": Integer(1, 2),
        "X": Matrix("T", "d"),
        "K": Matrix("d", "d"),
        "Q": Matrix("d", "d"),
        "v": Vector("d"),
    },
    conclusion=model,
    readings={
        "literal": Reading(
            "proved",
            read={"transposed notation": "with columns in place of rows"},
            proof="symbolic.tf.classification_model:prove",
            examples=(TURNED,),
            siblings={
                "W = Q K^T": changed(weights="Q K^T", examples=[TURNED]),
                "the last token's output": changed(token="last", examples=[TURNED]),
            },
        ),
    },
)

"""Attention model, our setting: the prompt in place of Z, and W in place of K Q^T.

"f(X; Z) = S(X Q K^T Z^T) X V. Our setting: Replace Z with p; Replace K Q^T with a combined W and V
with v." On the next slide the output is v^T X^T S(K_i p) with keys K_i = X_i W^T. As W^T = Q K^T,
this is the model with p for Z^T and v for V (`literal`). S is over the tokens of X. The abstract
has softmax(X W p) instead, where W is the transpose of this one.
"""

from attsvm.theory import Integer, Matrix, Reading, Statement, Vector, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.mm import SOURCE


def model(m: Namespace, v: Values, keys: str = "X W^T", values: str = "X v") -> Comparison:
    """Return that the output in Q and K is that in the keys X W^T with W = K Q^T."""
    original = m.softmax(v.X @ v.Q @ v.K.T @ v.p) @ (v.X @ v.v)
    W = v.K @ v.Q.T
    s = m.softmax(v.X @ (W.T if keys == "X W^T" else W) @ v.p)
    return m.equal(original, v.v @ (v.X.T @ s) if values == "X v" else v.p @ (v.X.T @ s))


TURNED = {
    "X": [[1, 0], [0, 0]],
    "K": [[0], [1]],
    "Q": [[1], [0]],
    "p": [0, 1],
    "v": [1, 0],
}

MODEL = Statement(
    "mm/prompt-model",
    source=SOURCE,
    place="Attention Model in Transformer, our setting",
    printed="f(X; Z) = S(X Q K^T Z^T) X V. Replace Z with p - Replace K Q^T with a combined W and "
    "V with v",
    variables={
        "T": Integer(1, 3),
        "d": Integer(1, 2),
        "r": Integer(1, 2),
        "X": Matrix("T", "d"),
        "K": Matrix("d", "r"),
        "Q": Matrix("d", "r"),
        "p": Vector("d"),
        "v": Vector("d"),
    },
    conclusion=model,
    readings={
        "literal": Reading(
            "proved",
            read={"combined W": "W = K Q^T, with keys X W^T"},
            proof="symbolic.mm.prompt_model:prove",
            examples=(TURNED,),
            siblings={
                "the keys X W": changed(keys="X W", examples=[TURNED]),
                "values by p": changed(values="X p", examples=[TURNED]),
            },
        ),
    },
)

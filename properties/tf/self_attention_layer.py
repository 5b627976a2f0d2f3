"""Self-attention layer: the output is softmax(X Q K^T X^T) X V.

"Obtain keys: X_K = XK, queries: X_Q = XQ, values: X_V = XV. It outputs the sequence S(X_Q X_K^T)
X_V = S(X Q K^T X^T) X V", with S by rows. Both sides are one function of X, K, Q and V, as matrix
products are associative (`literal`). So K and Q enter by W = Q K^T alone. On the next slides W is K
Q^T, which stands on the other side of the query (`tf/classification-model`).
"""

from attsvm.theory import Integer, Matrix, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.tf import SOURCE


def layer(m: Namespace, v: Values, weights: str = "Q K^T", of: str = "rows") -> Comparison:
    """Return that the output in keys, queries and values is that in X, K, Q and V."""
    keys, queries, values = v.X @ v.K, v.X @ v.Q, v.X @ v.V
    W = v.Q @ v.K.T if weights == "Q K^T" else v.K @ v.Q.T
    logits = v.X @ W @ v.X.T
    attention = m.softmax(logits if of == "rows" else logits.T)
    return m.equal(m.softmax(queries @ keys.T) @ values, attention @ v.X @ v.V)


TURNED = {
    "X": [[1, 0], [0, 1]],
    "K": [[0, 0], [1, 0]],
    "Q": [[1, 0], [0, 0]],
    "V": [[1, 0], [0, 0]],
}

LAYER = Statement(
    "tf/self-attention-layer",
    source=SOURCE,
    place="Self-attention layer",
    printed="It outputs the sequence S(X_Q X_K^T) X_V = S(X Q K^T X^T) X V",
    variables={
        "T": Integer(1, 3),
        "d": Integer(1, 2),
        **{name: Matrix("d", "d") for name in "KQV"},
        "X": Matrix("T", "d"),
    },
    conclusion=layer,
    readings={
        "literal": Reading(
            "proved",
            read={"S": "softmax of each row"},
            proof="symbolic.tf.self_attention_layer:prove",
            examples=(TURNED,),
            siblings={
                "the logits X K Q^T X^T": changed(weights="K Q^T", examples=[TURNED]),
                "logits of columns": changed(of="columns", examples=[TURNED]),
            },
        ),
    },
)

"""On the similarity between attention and SVM on the token separation and selection behavior."""

SOURCE = (
    "On the similarity between attention and SVM on the token separation and selection behavior"
)
LOSS_NAMES = {
    "loss": {
        "logistic": r"g(b \langle f, h\rangle)",
        "logistic-loss": r"g(-b \langle f, h\rangle)",
    }
}
"""How the printed loss and the decreasing one are written, by their names."""

PRINTED, REPAIRED = "logistic", "logistic-loss"
"""The loss g(u) of definition 3.6, which increases, and the decreasing one g(-u)."""

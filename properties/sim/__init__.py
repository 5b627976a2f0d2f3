"""On the similarity between attention and SVM on the token separation and selection behavior."""

from properties import LOSS_NAMES as LOSS_NAMES

SOURCE = (
    "On the similarity between attention and SVM on the token separation and selection behavior"
)

PRINTED, REPAIRED = "logistic", "logistic-loss"
"""The loss g(u) of definition 3.6, which increases, and the decreasing one g(-u)."""

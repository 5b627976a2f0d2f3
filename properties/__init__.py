"""The claims: one folder a source, one file a statement, named by its number in the source."""

LOSS_NAMES = {
    "loss": {
        "logistic": r"g(b \langle f, h\rangle)",
        "logistic-loss": r"g(-b \langle f, h\rangle)",
    }
}
"""The notation of the printed loss of `sim` and of the decreasing one, by their names."""

"""Max-Margin Token Selection in Attention Mechanism."""

SOURCE = "Max-Margin Token Selection in Attention Mechanism"

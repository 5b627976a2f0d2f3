"""Building blocks of claims about attention, shared by all claims.

- The Att-SVM, gradients, losses and heads, as formulas in every arithmetic.
- Hypotheses on tokens, scores, losses, steps and starts, decided on exact values.
- Runs of descent, with the certificates and rates that decide their limits.

A claim imports them as it imports the engine.
"""

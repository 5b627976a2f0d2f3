"""The building blocks of claims about attention that have no closed form, shared by all claims.

They are the Att-SVM, gradients, losses and heads in every arithmetic, hypotheses on tokens, scores
and starts, decided on exact values, and runs of descent. The runs have steps, and certificates and
rates that decide a limit. A claim imports them as it imports the engine.
"""

"""What claims about attention are made of beside closed forms, once for all claims.

The Att-SVM, gradients, losses and heads in every arithmetic; hypotheses on tokens, scores and
starts, decided on exact values; runs of descent, their steps, and the certificates and rates by
which a limit is decided. A claim imports them as it imports the engine.
"""

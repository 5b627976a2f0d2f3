"""A run: instances, hypotheses, evaluation, verdict; on workers."""

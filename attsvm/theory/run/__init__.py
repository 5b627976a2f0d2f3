"""The evaluation of claims: draw instances, test hypotheses and conclusions, confirm, count."""

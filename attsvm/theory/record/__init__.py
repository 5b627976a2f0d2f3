"""What is kept: ledger, counterexamples, expectations, what was reviewed."""

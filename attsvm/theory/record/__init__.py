"""What is kept: ledger, counterexamples, expectations, gate."""

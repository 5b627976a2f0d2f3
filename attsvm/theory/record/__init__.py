"""Records of runs: the ledger and counterexamples."""

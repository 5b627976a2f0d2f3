"""What a person reads: terminal, pages, scripts; drawn from the record."""

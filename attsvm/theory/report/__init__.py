"""Reports for people: terminal, pages and scripts, all drawn from the record of a run."""

"""Reports: text for a terminal, pages and scripts, all made from the record of a run."""

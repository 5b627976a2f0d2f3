"""Damaged and hostile files for every reader of attsvm: `python -m benchmarks.fuzz --help`."""

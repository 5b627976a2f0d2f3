"""Timings beside the best alternatives: `python -m benchmarks.timers [TABLE ...]`."""

from attsvm._threads import single_threaded

single_threaded()

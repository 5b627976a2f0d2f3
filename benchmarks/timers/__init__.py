"""How long things take beside the best alternative: `python -m benchmarks.timers [TABLE ...]`."""

from attsvm._threads import single_threaded

single_threaded()

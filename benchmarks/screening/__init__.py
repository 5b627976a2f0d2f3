"""Instances that are screened a second, on one thread of the processor or on a device."""

from attsvm._threads import single_threaded

single_threaded()

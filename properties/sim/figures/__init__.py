"""Figures of this source, redrawn by `attsvm reproduce`; one a file."""

"""Helpers shared by several statements of this source."""

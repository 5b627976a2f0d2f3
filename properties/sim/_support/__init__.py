"""Definitions, constants and domains shared by several statements of this source."""

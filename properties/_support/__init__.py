"""Helpers shared by statements of several sources."""

"""Modules that are slow to import, for the few test files that use them."""

import importlib


class Late:
    """A module that is imported when a test uses it, and not when tests are collected."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith(("_", "pytest")):  # pytest asks every global of a file for these
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)

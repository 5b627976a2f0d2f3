"""Libraries that are dear to import, for the few files whose tests use them."""

import importlib


class Late:
    """A module, imported when a test asks for something of it: no worker does to collect tests."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith(("_", "pytest")):  # which are asked for of all that a file holds
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)

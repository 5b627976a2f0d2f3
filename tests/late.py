"""Libraries that are dear to import, for the few files whose tests use them."""

import importlib


class Late:
    """A module, imported when something of it is first asked for: no worker collects it."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)

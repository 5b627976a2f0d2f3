"""Notes on the calls of rules, for code that writes or evaluates a proof anew.

A proof notes for each call the name of the rule and its arguments, and what a new name stands for.
No rule reads these notes.
"""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from attsvm.theory.proof.facts import K, current

_P = ParamSpec("_P")
_R = TypeVar("_R")

_NAMING = {"define": "define", "attained": "pick", "accumulate": "sum"}
"""Rules that name a function, with the kind of the name in `Proof.origins`."""


def noted(rule: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return the rule, which also notes its call in the proof."""
    signature = inspect.signature(rule)

    @functools.wraps(rule)
    def noting(*args: _P.args, **more: _P.kwargs) -> _R:
        whole = current()
        first, names = len(whole.facts) + 1, {*whole.names}
        result = rule(*args, **more)
        whole.calls[first] = rule.__name__, args, more
        if kind := _NAMING.get(rule.__name__):
            (name,) = {*whole.names} - names
            function, given = whole.names[name], signature.bind(*args, **more).arguments
            if kind == "define":
                _, (letters, term) = whole.meanings[whole.facts[first - 1]]
            else:
                term = given["extreme" if kind == "pick" else "increment"]
                letters = tuple(sorted(term.letters, key=lambda x: x.name))
            if kind == "sum":
                letters = (*(x for x in letters if x != K), K)
            whole.origins[kind, name] = function, (letters, term)
        return result

    return noting

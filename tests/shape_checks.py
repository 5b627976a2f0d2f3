"""Checks of arguments and results against their annotations, in some calls of each function.

A check by jaxtyping and beartype takes about twenty microseconds, more than most small functions.
So the first calls of a function are checked, and then one in so many; within `always` all are.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import random
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from types import FunctionType

from beartype import beartype
from jaxtyping import jaxtyped

__all__ = ["always", "checked", "install"]

FIRST, EACH = 64, 16
"""The number of first calls that are all checked; after them one call in `EACH` is."""

_calls = {}
"""Counters of calls by function: those of an inner function share one."""
_always = False


@contextlib.contextmanager
def always():
    """Check every call inside the block."""
    global _always
    _always = True
    try:
        yield
    finally:
        _always = False


def in_turn(function):
    """The function checked by beartype, which looks at the items of a list in turn, one per call.

    beartype itself picks a random item, from the generator of the module `random`. Then checks
    would differ from run to run, and strategies may not draw from that generator.
    """
    judged = beartype(function)
    hidden = getattr(judged, "__kwdefaults__", None) or {}
    turn = itertools.count()
    for name in [name for name, value in hidden.items() if value is random.getrandbits]:
        hidden[name] = lambda bits: next(turn)
    return judged


def checked(thing):
    """The function, or the class with its `__init__`, with checks of some calls."""
    if inspect.isclass(thing):
        if "__init__" in vars(thing) and hasattr(thing, "__dataclass_fields__"):
            thing.__init__ = checked(thing.__init__)
        return thing
    if isinstance(thing, classmethod | staticmethod):
        return type(thing)(checked(thing.__func__))
    if isinstance(thing, property):
        parts = (thing.fget, thing.fset, thing.fdel)
        return property(*[part and checked(part) for part in parts])
    if not isinstance(thing, FunctionType):
        return thing
    if {str(hint) for hint in thing.__annotations__.values()} <= {"Any"}:
        return thing
    name = thing.__module__, thing.__qualname__, thing.__code__.co_firstlineno
    calls = _calls.setdefault(name, itertools.count())
    judged = functools.cache(lambda: jaxtyped(thing, typechecker=in_turn))

    @functools.wraps(thing)
    def wrapper(*arguments, **named):
        __tracebackhide__ = True
        call = next(calls)
        if call < FIRST or call % EACH == 0 or _always:
            return judged()(*arguments, **named)
        return thing(*arguments, **named)

    return wrapper


class _Decorator(ast.NodeTransformer):
    """Adds the decorator `checked`: innermost for functions, outermost for classes."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list.append(self._name(node))
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.decorator_list.insert(0, self._name(node))
        return node

    def _name(self, node):
        return ast.copy_location(ast.Name(checked.__name__, ast.Load()), node)


class _Loader(SourceFileLoader):
    def path_stats(self, path):
        raise OSError(path)  # keep no bytecode: other runs would load it without the checks

    def source_to_code(self, data, path):
        tree = ast.fix_missing_locations(_Decorator().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        setattr(module, checked.__name__, checked)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def __init__(self, names):
        self.names = tuple(names)

    def find_spec(self, name, path=None, target=None):
        if not any(name == own or name.startswith(f"{own}.") for own in self.names):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def install(names):
    """Check these modules and their submodules when they are imported."""
    sys.meta_path.insert(0, _Finder(names))

"""Checks of arguments and results against their annotations, once for each combination of shapes.

A check by jaxtyping and beartype takes about twenty microseconds, more than most small functions.
Its result depends only on types, dtypes and shapes. So for every function the combinations of
arguments and result that passed are remembered, and not checked again. The look-up alone takes a
fifth of a claim's time; for claims only some calls are looked up (`sparingly`).
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import random
import re
import sys
import threading
from collections.abc import Container, Iterable
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from types import FunctionType

import numpy as np
from beartype import beartype
from jaxtyping import jaxtyped
from numpy import ndarray

__all__ = ["install", "remembering", "sparingly"]

LONGEST = 16
"""The maximum length of a tuple or list whose items are remembered one by one."""

BY_VALUE = re.compile(r"\{|Literal")
"""Annotations that depend on values: functions that have one are checked at every call."""
OF_ANY_LENGTH = re.compile(r"\.\.\.|Sequence|Iterable|Collection|list")

EACH = 16
"""Within `sparingly` one call in this number of calls of a function is checked."""

_seen = {}
_sparing = False
_plain = {float, int, complex, np.float64, np.int64, np.bool_, type(None)}
"""Types about which an annotation can say no more than the type; more are added when met."""


class Unknown(Exception):
    """A value about which an annotation may say more than its `kind`; it is always checked."""


@contextlib.contextmanager
def sparingly():
    """Check one call in `EACH` calls of each function inside the block, and the first one."""
    global _sparing
    _sparing = True
    try:
        yield
    finally:
        _sparing = False


def kind(value, uniform=False):
    """What an annotation can say about a value: its type, dtype and shape, or those of its items.

    `uniform` says that tuples must have items of one kind. Raises `Unknown` for other values.
    """
    of = type(value)
    if of in _plain:
        return of
    if of is ndarray:
        return value.dtype, value.shape
    if isinstance(value, ndarray):
        return of, value.dtype, value.shape
    if of is str or of is bool:
        return of, value
    if of is tuple or of is list:
        if len(value) > LONGEST:
            raise Unknown
        kinds = tuple([kind(item, uniform) for item in value])
        # beartype looks at one item where all must fit the same annotation
        if (uniform or of is list) and len(set(kinds)) > 1:
            raise Unknown
        return of, kinds
    if of.__module__.partition(".")[0] == "torch" and hasattr(of, "shape"):
        return of, value.dtype, tuple(value.shape)
    if isinstance(value, type | Iterable | Container):
        raise Unknown
    _plain.add(of)
    return of


def in_turn(function):
    """The function checked by beartype, which looks at the items of a list in turn, one per call.

    beartype itself picks a random item, from the generator of the module `random`. Then checks
    would differ from run to run, and strategies may not draw from that generator.
    """
    checked = beartype(function)
    hidden = getattr(checked, "__kwdefaults__", None) or {}
    turn = itertools.count()
    for name in [name for name, value in hidden.items() if value is random.getrandbits]:
        hidden[name] = lambda bits: next(turn)
    return checked


def remembering(thing):
    """The function, or the class with its `__init__`, checked for new combinations of shapes."""
    if inspect.isclass(thing):
        if "__init__" in vars(thing) and hasattr(thing, "__dataclass_fields__"):
            thing.__init__ = remembering(thing.__init__)
        return thing
    if isinstance(thing, classmethod | staticmethod):
        return type(thing)(remembering(thing.__func__))
    if isinstance(thing, property):
        parts = (thing.fget, thing.fset, thing.fdel)
        return property(*[part and remembering(part) for part in parts])
    if not isinstance(thing, FunctionType):
        return thing
    texts = {str(hint) for hint in thing.__annotations__.values()}
    if texts <= {"Any"}:
        return thing
    if any(BY_VALUE.search(text) for text in texts):
        return jaxtyped(thing, typechecker=in_turn)
    return _checked_once(thing, any(OF_ANY_LENGTH.search(text) for text in texts))


def _checked_once(function, uniform):
    # an inner function is created again by every call of the outer one: these share what was seen
    name = function.__module__, function.__qualname__, function.__code__
    seen = _seen.setdefault(name, {})
    results = {}
    checked = functools.cache(lambda: jaxtyped(function, typechecker=in_turn))
    judge = functools.cache(lambda: jaxtyped(_popping(results, function), typechecker=in_turn))
    calls = 0

    @functools.wraps(function)
    def wrapper(*arguments, **named):
        __tracebackhide__ = True
        if _sparing:
            nonlocal calls
            calls += 1
            if calls % EACH != 1:
                return function(*arguments, **named)
        try:
            kinds = tuple(
                [
                    (value.dtype, value.shape)
                    if (of := type(value)) is ndarray
                    else of
                    if of in _plain
                    else kind(value, uniform)
                    for value in arguments
                ]
            )
            if named:
                kinds += tuple([(name, kind(value, uniform)) for name, value in named.items()])
        except Unknown:
            return checked()(*arguments, **named)
        known = seen.get(kinds)
        new = not known
        if new:
            known = seen.setdefault(kinds, set())
        result = (checked() if new else function)(*arguments, **named)
        if (of := type(result)) is ndarray:
            after = (result.dtype, result.shape)
        elif of in _plain:
            after = of
        else:
            try:
                after = kind(result, uniform)
            except Unknown:
                after = None
        if after in known:
            return result
        if not new:
            results[threading.get_ident()] = result
            judge()(*arguments, **named)
        if after is not None:
            known.add(after)
        return result

    return wrapper


def _popping(results, like):
    """A function with the signature and globals of `like` that returns this thread's result."""
    take, thread = results.pop, threading.get_ident

    def known(*_, **__):
        return take(thread())

    copy = FunctionType(known.__code__, like.__globals__, closure=known.__closure__)
    return functools.update_wrapper(copy, like)


class _Decorator(ast.NodeTransformer):
    """Adds the decorator `remembering`: innermost for functions, outermost for classes."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list.append(self._name(node))
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.decorator_list.insert(0, self._name(node))
        return node

    def _name(self, node):
        return ast.copy_location(ast.Name(remembering.__name__, ast.Load()), node)


class _Loader(SourceFileLoader):
    def path_stats(self, path):
        raise OSError(path)  # keep no bytecode: other runs would load it without the checks

    def source_to_code(self, data, path):
        tree = ast.fix_missing_locations(_Decorator().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        setattr(module, remembering.__name__, remembering)
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

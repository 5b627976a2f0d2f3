"""Witnesses: proposals that floats make to exact arithmetic, recorded once and read in a replay.

Some proofs need data that only a search in floats finds quickly, such as the support of a solution.
Exact code requests them by `proposed` and proves whatever it uses. A wrong proposal may therefore
leave a question undecided, but never decides it falsely. Inside `noting` each proposal is recorded.
Inside `reading` proposals come from the record, and no float code runs, so that the answer is the
same on every machine.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from attsvm._types import Json
from attsvm.errors import FileError

Plain = None | int | float | list["Plain"]
"""The type of a proposal: integers, finite floats, and lists of these; None if floats found
nothing."""

Witness = Mapping[str, list["Json"]]
"""Proposals as JSON, in the order of the requests, by name."""

_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}")
"""A float as `float.hex` writes it."""

_DEEPEST = 3
"""Maximum depth of nested lists: a proposal is a list of a few matrices at most."""

_LARGEST = 2**53
"""Bound of the absolute value of a proposed integer."""


@dataclass(slots=True)
class _Session:
    """The proposals of one examination.

    Attributes:
        witness: the witness to read; None if proposals are computed and recorded.
        noted: the proposals recorded or read so far, as JSON.
        memory: cached results by function; they may depend on the proposals of this session.
    """

    witness: Witness | None
    noted: dict[str, list[Json]] = field(default_factory=dict)
    memory: dict[object, dict[object, Any]] = field(default_factory=dict)

    def next(self, name: str, find: Callable[[], Plain]) -> Plain:
        """Return the next proposal of that name: computed and recorded, or read.

        Raises:
            FileError: the witness has no further proposal, or is malformed.
        """
        noted = self.noted.setdefault(name, [])
        if self.witness is None:
            token = _SESSION.set(None)
            try:
                noted.append(_encode(find()))
            finally:
                _SESSION.reset(token)
        elif len(noted) < len(self.witness.get(name, ())):
            noted.append(self.witness[name][len(noted)])
        else:
            raise malformed(f"lacks a {name}", len(noted))
        return _decode(noted[-1])


_SESSION: ContextVar[_Session | None] = ContextVar("_SESSION", default=None)


@contextlib.contextmanager
def noting() -> Iterator[dict[str, list[Json]]]:
    """Record every proposal made inside the context in the dictionary that is yielded."""
    with _entered(_Session(None)) as session:
        yield session.noted


@contextlib.contextmanager
def reading(witness: Witness) -> Iterator[None]:
    """Read every proposal inside the context from a witness, and compute none.

    The witness may be wrong: callers prove whatever they use.
    """
    with _entered(_Session(witness)):
        yield


@contextlib.contextmanager
def _entered(session: _Session) -> Iterator[_Session]:
    token = _SESSION.set(session)
    try:
        yield session
    finally:
        _SESSION.reset(token)


def proposed(name: str, find: Callable[[], Plain]) -> Plain:
    """Return a proposal; the caller must prove it, as it may have any value if read from a file.

    Args:
        name: its name in files.
        find: computes the proposal in floats.
    """
    session = _SESSION.get()
    return find() if session is None else session.next(name, find)


def memory(function: Callable[..., object]) -> dict[object, Any] | None:
    """Return the cache of a function inside `noting` and `reading`; None outside."""
    session = _SESSION.get()
    return None if session is None else session.memory.setdefault(function, {})


def indices(value: Plain, below: int) -> list[int]:
    """Return a proposed list of different integers in order, each from 0 on and below a bound.

    Raises:
        FileError: the proposal is something else.
    """
    if not isinstance(value, list):
        raise malformed("holds no list of indices", value)
    results = [x for x in value if type(x) is int and 0 <= x < below]
    if len(results) < len(value) or results != sorted(set(results)):
        raise malformed("holds indices that do not fit", value)
    return results


def floats(value: Plain, *shape: int) -> Any:
    """Return proposed floats, nested according to a shape.

    Raises:
        FileError: the proposal has another form.
    """
    if not shape:
        if type(value) is not float:
            raise malformed("has no number where one is needed", value)
        return value
    if not isinstance(value, list) or len(value) != shape[0]:
        raise malformed(f"holds no list of {shape[0]}", value)
    return [floats(x, *shape[1:]) for x in value]


def ensure_witness(value: object) -> Witness:
    """Return a value read from a file, if it has the form of a witness.

    Raises:
        FileError: it is not an object whose values are lists.
    """
    if not isinstance(value, dict) or not all(isinstance(x, list) for x in value.values()):
        raise malformed("is no object of lists", value)
    return value


def malformed(how: str, value: object) -> FileError:
    """Return the error for a witness that does not fit the request."""
    return FileError(
        f"the witness in the file {how}",
        value=value,
        remedy="It may be damaged, or of another version of the claim: run the hunt again.",
    )


def _encode(value: Plain) -> Json:
    """Return a proposal as JSON: floats are strings of their exact value."""
    if isinstance(value, list):
        return [_encode(x) for x in value]
    return value.hex() if isinstance(value, float) else value


def _decode(value: Json, depth: int = _DEEPEST) -> Plain:
    """Return the proposal of a JSON value.

    Raises:
        FileError: no proposal has this JSON value.
    """
    if value is None or (type(value) is int and abs(value) <= _LARGEST):
        return value
    if isinstance(value, list) and depth:
        return [_decode(x, depth - 1) for x in value]
    if isinstance(value, str) and _FLOAT.fullmatch(value):
        with contextlib.suppress(OverflowError):
            return float.fromhex(value)
    raise malformed("has a value that no proposal has", value)

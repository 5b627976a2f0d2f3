"""The search for certificates: floats propose coefficients, which are then solved in rationals.

Products that alone have some monomial are left out, as nothing cancels it. Linear programming finds
coefficients with which the other products add up to 0. The products with a coefficient other than 0
are kept, and their coefficients are solved again in rationals. Nothing trusts the result:
`attsvm.theory.proof.certificates` checks it exactly.

Beside it: rules note their calls in the proof, for code that writes or evaluates the proof anew. No
rule reads these notes.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import ParamSpec, TypeVar

import numpy as np
from flint import fmpq, fmpq_mat

from attsvm.theory.proof.certificates import Summand, product
from attsvm.theory.proof.facts import K, Proposition, current
from attsvm.theory.proof.terms import Monomial, Term

_SMALL = 1e-9
"""Maximum absolute value of a coefficient that counts as 0."""


@functools.lru_cache(maxsize=4096)
def certificate(propositions: tuple[Proposition, ...], degree: int) -> tuple[Summand, ...] | None:
    """Return a certificate that propositions never hold together, by products up to a degree.

    The last proposition is the denial of the goal. None if there is no certificate of this form,
    which says nothing about the goal.
    """
    for most in range(1, degree + 1):
        places = [*_products(propositions, most)]
        terms = [product(propositions, p) for p in places]
        result = _solved(propositions, places, terms)
        if result is not None:
            return result
    return None


def _products(propositions: Sequence[Proposition], degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the factors of each product, the empty product first."""
    every = range(len(propositions))
    for size in range(degree + 1):
        yield from itertools.combinations_with_replacement(every, size)


def _solved(
    propositions: Sequence[Proposition], places: list[tuple[int, ...]], terms: list[Term]
) -> tuple[Summand, ...] | None:
    """Return coefficients with which the products add up to 0, as a certificate."""
    relations = [[propositions[x].relation for x in p] for p in places]
    free = np.array(["==" in r for r in relations])
    strict = np.array(["==" not in r and ">=" not in r for r in relations])
    kept = _cancelling(terms, free)
    if not strict[kept].any():
        return None
    exact, unique = _exactly([terms[i] for i in kept], strict[kept])
    if exact is not None and not unique:
        cost = np.array([1.0 + len(places[i]) for i in kept])
        proposed = _proposed([terms[i] for i in kept], free[kept], strict[kept], cost)
        kept = kept[proposed]
        exact, _ = _exactly([terms[i] for i in kept], strict[kept])
    if exact is None or any(c < 0 and not free[i] for i, c in zip(kept, exact, strict=True)):
        return None
    return tuple(Summand(c, places[i]) for i, c in zip(kept, exact, strict=True) if c != 0)


def _cancelling(terms: Sequence[Term], free: np.ndarray) -> np.ndarray:
    """Return the places of the products that a certificate may use.

    A product is left out if one of its monomials cannot cancel. Either no other product has it, or
    all products have it with one sign and need coefficients >= 0.
    """
    rows: dict[Monomial, list[tuple[int, int]]] = {}
    for column, term in enumerate(terms):
        for monomial, c in term.parts.items():
            sign = 0 if free[column] else 1 if c > 0 else -1
            rows.setdefault(monomial, []).append((column, sign))
    kept, before = {*range(len(terms))}, -1
    while len(kept) != before:
        before = len(kept)
        for row in rows.values():
            live = [(column, sign) for column, sign in row if column in kept]
            signs = {sign for _, sign in live}
            if len(live) == 1 or (len(signs) == 1 and 0 not in signs):
                kept -= {column for column, _ in live}
    return np.array(sorted(kept), dtype=int)


def _proposed(
    terms: Sequence[Term], free: np.ndarray, strict: np.ndarray, cost: np.ndarray
) -> np.ndarray:
    """Return the places of products in a cheapest certificate in floats; empty without one."""
    from scipy.optimize import linprog  # slow to import, and reading claims needs no search

    rows = {m: k for k, m in enumerate(dict.fromkeys(m for t in terms for m in t.parts))}
    matrix = np.zeros((len(rows), len(terms)))
    for column, term in enumerate(terms):
        for m, c in term.parts.items():
            matrix[rows[m], column] = float(int(c.p) / int(c.q))
    # Linear programming has unknowns >= 0, so a coefficient of any sign is a difference of two of
    # them. The coefficients of strict products add up to 1: then one of them is positive, and the
    # solution 0 is excluded.
    both = np.hstack([matrix, -matrix[:, free]])
    last = np.concatenate([strict, np.zeros(int(free.sum()))])[None, :]
    answer = linprog(
        np.concatenate([cost, cost[free]]),
        A_eq=np.vstack([both, last]),
        b_eq=np.concatenate([np.zeros(len(rows)), [1.0]]),
        method="highs-ds",
    )
    if answer.x is None:
        return np.array([], dtype=int)
    merged = answer.x[: len(terms)].copy()
    merged[free] -= answer.x[len(terms) :]
    return np.flatnonzero(np.abs(merged) > _SMALL)


def _exactly(terms: Sequence[Term], strict: np.ndarray) -> tuple[list[fmpq] | None, bool]:
    """Return rational coefficients with which products add up to 0, and whether they are unique.

    None if there are none. The coefficients of the strict products add up to 1. If the solution is
    not unique, the free coefficients are 0. Signs are not checked here.
    """
    rows = {m: k for k, m in enumerate(dict.fromkeys(m for t in terms for m in t.parts))}
    n = len(terms)
    system = fmpq_mat(len(rows) + 1, n + 1)
    for column, term in enumerate(terms):
        for monomial, coefficient in term.parts.items():
            system[rows[monomial], column] = coefficient
        system[len(rows), column] = fmpq(int(strict[column]))
    system[len(rows), n] = fmpq(1)
    reduced, rank = system.rref()
    solution = [fmpq(0)] * n
    for row in range(rank):
        pivot = next(c for c in range(n + 1) if reduced[row, c] != 0)
        if pivot == n:
            return None, True
        solution[pivot] = reduced[row, n]
    return solution, rank == n


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
            function, arguments = whole.names[name], signature.bind(*args, **more).arguments
            if kind == "define":
                _, (letters, term) = whole.meanings[whole.facts[first - 1]]
            else:
                term = arguments["extreme" if kind == "pick" else "increment"]
                letters = tuple(sorted(term.letters, key=lambda x: x.name))
            if kind == "sum":
                letters = (*(x for x in letters if x != K), K)
            whole.origins[kind, name] = function, (letters, term)
        return result

    return noting

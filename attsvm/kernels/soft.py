"""Active-set loops of the soft-margin programme, over a product of simplices.

    max  tau * (sum_{a < m} u_a) - 1/2 ||sum_a u_a A_a||^2,  u >= 0, the sum over each group fixed.

Atoms 0..m-1 are the constraints. Atom m+g, with matrix zero, takes the weight that group g does not
use. Repeated matrices are stored once: atom a has matrix number kind[a] in 0..K-1, and the zero
matrix has number K. Each group has a base atom. A free atom gains weight at the expense of the base
of its group, so the Gram matrix of the B_a = A_a - A_base has to stay nonsingular. No result is
trusted: callers recompute every figure from the matrix and the weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined
from attsvm.kernels.least_norm import (
    backward,
    forward,
    pair,
    pair_all,
    pair_rows,
    remove,
    solve,
    times_rows,
    write,
)

EPS = float(np.finfo(np.float64).eps)


class _Atoms(NamedTuple):
    """The programme, the point and the free set.

    Attributes:
        G: inner products of the matrices (K + 1, K + 1), the last row and column zero.
        kind, owner: matrix number and group of each atom.
        u: weights of the atoms.
        base: base atom of each group.
        active: its first k entries are the free atoms.
        inside: whether an atom is free.
        L: Cholesky factor of the Gram matrix of the B_a of free atoms.
    """

    G: Array
    kind: Array
    owner: Array
    u: Array
    base: Array
    active: Array
    inside: Array
    L: Array


@inlined
def _kinds(atoms: _Atoms, a: int) -> tuple[int, int]:
    """Return the matrix numbers of an atom and of its base."""
    return atoms.kind[a], atoms.kind[atoms.base[atoms.owner[a]]]


@compiled
def _inner(atoms: _Atoms, a: int, b: int) -> float:
    """Return <B_a, B_b>."""
    (i, p), (k, q), G = _kinds(atoms, a), _kinds(atoms, b), atoms.G
    return G[i, k] - G[p, k] - G[i, q] + G[p, q]


@compiled
def _weight(atoms: _Atoms, a: int) -> float:
    """Return ||A_a||^2 + ||A_base||^2, the scale of rounding errors of <B_a, B_a>."""
    i, p = _kinds(atoms, a)
    return atoms.G[i, i] + atoms.G[p, p]


@compiled
def _gain(atoms: _Atoms, q: Array, a: int) -> float:
    """Return q_a - q_base: the rate of the objective as weight moves from its base to atom a."""
    i, p = _kinds(atoms, a)
    return q[i] - q[p]


@compiled
def _trade(atoms: _Atoms, weights: Array, k: int, move: Array) -> None:
    """Add weights_r to the move of each free atom, and subtract it from the move of its base."""
    for r in range(k):
        a = atoms.active[r]
        move[a] += weights[r]
        move[atoms.base[atoms.owner[a]]] -= weights[r]


@compiled
def _factor(atoms: _Atoms, k: int) -> int:
    """Compute L for the first k entries of `active`, and return the number of free atoms.

    An atom that depends on earlier ones leaves the free set and keeps its weight u.
    """
    active, inside, L = atoms.active, atoms.inside, atoms.L
    kept = 0
    for r in range(k):
        a = active[r]
        if kept == L.shape[0]:  # no more can be independent
            inside[a] = False
            continue
        row, rest = L[kept], _inner(atoms, a, a)
        for c in range(kept):
            row[c] = _inner(atoms, a, active[c])
        forward(L, kept, row)
        for c in range(kept):
            rest -= row[c] ** 2
        if rest <= 64 * EPS * (kept + 1) * _weight(atoms, a):
            inside[a] = False
            continue
        L[kept, kept] = np.sqrt(rest)
        active[kept] = a
        kept += 1
    return kept


@compiled
def _advance(atoms: _Atoms, q: Array, move: Array, step: float) -> tuple[float, int, float]:
    """Move u along `move` until `step` or until an atom reaches zero, and update the gradient q.

    Among atoms that reach zero together, the one that moves fastest counts as blocking.

    Returns:
        The length of the move, the blocking atom (-1 if none), and a number e such that rounding
        changes q_a by about e ||A_a||.
    """
    G, kind, u = atoms.G, atoms.kind, atoms.u
    K, leaving = G.shape[0] - 1, -1
    for a in range(u.shape[0]):
        if move[a] < 0.0:
            ratio = u[a] / -move[a]
            if ratio < step or (ratio == step and leaving >= 0 and move[a] < move[leaving]):
                step, leaving = ratio, a
    noise = 0.0
    for a in range(u.shape[0]):
        if move[a] == 0.0:
            continue
        change = step * move[a]
        u[a] = max(0.0, u[a] + change)
        j = kind[a]
        if j < K and change != 0.0:
            noise += EPS * abs(change) * np.sqrt(G[j, j])
            for i in range(K):
                q[i] -= change * G[j, i]
    if leaving >= 0:
        u[leaving] = 0.0
    return step, leaving, noise


@compiled
def _drop(atoms: _Atoms, k: int, gone: int, entering: int) -> int:
    """Remove an atom that reached zero from the free set, or replace it as the base of its group.

    The new base is the heaviest other atom of the group, or `entering` if all others have weight
    zero. It must have positive weight, as a base of weight zero would block every move. Return the
    number of free atoms.
    """
    owner, u, base, active = atoms.owner, atoms.u, atoms.base, atoms.active
    group, gone_base = owner[gone], base[owner[gone]] == gone
    if gone_base:
        gone = entering  # if the group has no other atom of positive weight
        for a in range(u.shape[0]):
            member = owner[a] == group and a != base[group] and a != entering and u[a] > 0.0
            if member and (gone == entering or u[a] > u[gone]):
                gone = a
        base[group] = gone
    place, others = -1, False
    for r in range(k):
        if active[r] == gone:
            place = r
        elif owner[active[r]] == group:
            others = True
    if place >= 0:
        atoms.inside[gone] = False
        remove(atoms.L, k, place)
        write(active[place + 1 : k], active[place:])
        k -= 1
    if gone_base and others:  # the free rows of the group refer to another base now
        k = _factor(atoms, k)
    return k


@compiled
def _climb(
    atoms: _Atoms, forced: bool, tau: float, size: float, noise: float, q: Array, k: int, limit: int
) -> tuple[int, int, float]:
    """Solve the programme for fixed tau, from a feasible u and k free atoms.

    With `forced`, the zero atoms get no weight. If the free set cannot grow without becoming
    singular, u moves along the direction of no curvature until an atom reaches zero: the simplices
    are bounded, so one does.

    Args:
        atoms: the programme and the point, which is changed in place.
        forced: whether every group is used in full.
        tau: weight of the linear part.
        size: ||sum u_a A_a||, the scale of rounding errors.
        noise: q_a has an error of up to noise ||A_a||.
        q: gradient of the objective by matrix, changed in place.
        k: number of free atoms.
        limit: maximum number of changes of the free set.

    Returns:
        The number of free atoms, the number of changes of the free set, and the new noise.
    """
    owner, u, base = atoms.owner, atoms.u, atoms.base
    active, inside, L = atoms.active, atoms.inside, atoms.L
    N, most = u.shape[0], L.shape[0]
    m = N - base.shape[0]
    move, weights, column = np.zeros(N), np.empty(most), np.empty(most)
    changes, idle, restored = 0, 0, False
    while changes < limit:
        # Restore stationarity on the free atoms: earlier moves leave gains of the size of their
        # rounding errors, and a pivot relies on gains 0 there. `scale` bounds that error; smaller
        # gains are noise, and a Newton step for them would repeat forever.
        worst = 0.0
        if not restored:
            for r in range(k):
                weights[r] = _gain(atoms, q, active[r])
                scale = tau + size * np.sqrt(_weight(atoms, active[r]))
                worst = max(worst, abs(weights[r]) / (4 * EPS * scale + 1e-300))
        if worst > 1.0:
            solve(L, k, weights)
            move[:] = 0.0
            _trade(atoms, weights, k, move)
            _, leaving, more = _advance(atoms, q, move, 1.0)
            noise += more
            if leaving >= 0:
                k = _drop(atoms, k, leaving, -1)
                changes += 1
            else:
                restored = True
            continue
        # Choose the atom whose gain at the expense of its base is largest beyond rounding. An
        # atom strictly between its bounds may also move down, so the size of its gain counts.
        entering, worst = -1, 0.0
        for a in range(m if forced else N):
            if inside[a] or a == base[owner[a]]:
                continue
            slope = _gain(atoms, q, a)
            if u[a] > 0.0:
                slope = abs(slope)
            spread = np.sqrt(_weight(atoms, a))
            if slope > 16 * EPS * (tau + size * spread) + 4 * noise * spread and slope > worst:
                entering, worst = a, slope
                if idle > N:  # steps of length zero may cycle: take the first, not the best
                    break
        if entering < 0:
            break
        moved = 0.0
        while True:
            changes += 1
            for r in range(k):
                column[r] = _inner(atoms, active[r], entering)
            forward(L, k, column)
            curvature = _inner(atoms, entering, entering)
            for r in range(k):
                curvature -= column[r] ** 2
                weights[r] = -column[r]
            backward(L, k, weights)
            length = _weight(atoms, entering)
            slope = _gain(atoms, q, entering)
            for r in range(k):
                length += weights[r] ** 2 * _weight(atoms, active[r])
                slope += weights[r] * _gain(atoms, q, active[r])
            sign = 1.0 if slope > 0.0 else -1.0
            if sign < 0.0 and u[entering] == 0.0:
                break  # only rounding made it look better than its base
            move[:] = 0.0
            move[entering] = sign
            move[base[owner[entering]]] -= sign
            for r in range(k):
                weights[r] *= sign
            _trade(atoms, weights, k, move)
            # The objective along the move is slope t - curvature t^2/2, as in `pivot`. A curvature
            # of the size of its rounding error counts as 0: the objective is linear then, and the
            # move ends at the first atom that reaches 0, as the simplices are bounded.
            dependent = k == most or curvature <= 16 * EPS * (k + 1) * length
            step = np.inf if dependent else abs(slope) / curvature
            step, leaving, more = _advance(atoms, q, move, step)
            noise += more
            moved += step
            if leaving < 0:
                write(column[:k], L[k])
                L[k, k] = np.sqrt(curvature)
                active[k] = entering
                inside[entering] = True
                k += 1
                break
            if leaving == entering:
                break
            k = _drop(atoms, k, leaving, entering)
            if base[owner[entering]] == entering or changes >= limit:
                break
        idle = 0 if moved > 0.0 else idle + 1
        restored = False
    return k, changes, noise


@compiled
def _by_matrix(kind: Array, u: Array, at: Array, K: int) -> Array:
    """Return the sums of u - at over the constraints of each matrix; then set `at` to u."""
    sums = np.zeros(K)
    for a in range(len(at)):
        sums[kind[a]] += u[a] - at[a]
        at[a] = u[a]
    return sums


@compiled
def _gather(D: Array, Z: Array, x: Array, S: Array) -> None:
    """Add the transposed matrix of weights x, sum_j x_j Z_j D_j^T, to S."""
    added = np.dot(times_rows(x, Z).T, D)
    for r in range(S.shape[0]):
        for c in range(S.shape[1]):
            S[r, c] += added[r, c]


@compiled
def _products(D: Array, Z: Array, S: Array) -> Array:
    """Return <A_j, S> for all constraints."""
    return pair_rows(np.dot(D, S.T), Z)


@compiled
def _slacks(D: Array, Z: Array, S: Array, tau: float, q: Array) -> None:
    """Write tau - <A_j, S> into q."""
    products = _products(D, Z, S)
    for j in range(len(products)):
        q[j] = tau - products[j]


@compiled
def fill(
    G: Array, D: Array, Z: Array, kind: Array, owner: Array, u: Array, base: Array, limit: int
) -> Array:
    """Minimise ||sum_j u_j A_j|| over u with no weight on the zero atoms.

    `u` starts with one constraint in each group, its `base`. Both are changed in place. Return
    which atoms are free at the end.
    """
    N, K, most = u.shape[0], D.shape[0], min(D.shape[0], D.shape[1] * Z.shape[1]) + 1
    m = N - base.shape[0]
    S, q = np.zeros((Z.shape[1], D.shape[1])), np.zeros(K + 1)
    active, inside = np.empty(most, dtype=np.int64), np.zeros(N, dtype=np.bool_)
    atoms = _Atoms(G, kind, owner, u, base, active, inside, np.zeros((most, most)))
    at, k = np.zeros(m), 0
    for count in range(limit):
        if count < 2:  # u still moves far, and S would keep the rounding errors of its first values
            S[:], at[:] = 0.0, 0.0
        _gather(D, Z, _by_matrix(kind, u, at, K), S)
        products = _products(D, Z, S)
        for j in range(K):
            q[j] = -products[j]
        size = np.sqrt(pair_all(S, S))
        k, changes, _ = _climb(atoms, True, 0.0, size, 0.0, q, k, 20 * N)
        if changes == 0 and (k == 0 or count > 0):
            break
    return inside


@compiled
def follow(
    G: Array,
    D: Array,
    Z: Array,
    kind: Array,
    owner: Array,
    u: Array,
    base: Array,
    inside: Array,
    tau: float,
    lower: float,
    upper: float,
    goal: float,
    limit: int,
) -> tuple[Array, float, Array, float, int]:
    """Find tau in (lower, upper) whose solution has ||sum_j u_j A_j|| = goal; change u in place.

    Newton's method in tau^2 is exact on a fixed free set; bisection safeguards it. The gradient q
    comes from G until the free set settles, and then from the matrix S = sum_j u_j A_j. S is
    corrected by changes of u alone, so that its products are accurate relative to its own norm,
    however small that is.

    Returns:
        The transposed matrix, tau, du/dtau, the derivative of the squared norm in tau^2, and the
        number of Newton steps.
    """
    # On a fixed free set, <B_a, S> = tau e_a, where e_a is 1 if a is a constraint, minus 1 if its
    # base is one. With M the Gram matrix of the B_a, the free weights move at the rate M^-1 e, so
    # that d||S||^2 / dtau = 2 tau e^T M^-1 e: ||S||^2 is affine in tau^2 with slope `gain` = ||L^-1
    # e||^2.
    N, K, most = u.shape[0], D.shape[0], min(D.shape[0], D.shape[1] * Z.shape[1]) + 1
    m = N - base.shape[0]
    S = np.zeros((Z.shape[1], D.shape[1]))
    q, rate, at = np.zeros(K + 1), np.zeros(N), np.zeros(m)
    active, L = np.empty(N, dtype=np.int64), np.zeros((most, most))
    atoms = _Atoms(G, kind, owner, u, base, active, inside, L)
    weights, gain, k = np.empty(most), 0.0, 0
    for a in range(N):
        if inside[a]:
            active[k] = a
            k += 1
    k = _factor(atoms, k)
    held, noise = _by_matrix(kind, u, np.zeros(m), K), 0.0
    q[:K] = tau
    for j in range(K):
        if held[j] != 0.0:
            noise += held[j] * np.sqrt(G[j, j])
            for i in range(K):
                q[i] -= held[j] * G[j, i]
    noise *= EPS
    exact, bounds = False, (lower, upper)
    for count in range(limit):
        k, changes, noise = _climb(atoms, False, tau, goal, noise, q, k, 20 * N)
        square = 0.0
        for a in range(m):
            square += u[a] * (tau - q[kind[a]])
        if not exact and changes == 0 and abs(square - goal**2) <= 1e-6 * goal**2 + noise:
            exact = True
            lower, upper = bounds
        done = False
        if exact:
            for _ in range(2):
                _gather(D, Z, _by_matrix(kind, u, at, K), S)
                _slacks(D, Z, S, tau, q)
                # restore <B_a, S> = tau e_a on the free set. S takes the whole correction even if u
                # does not change in its last digit or may not fall below 0
                for r in range(k):
                    weights[r] = _gain(atoms, q, active[r])
                solve(L, k, weights)
                change = np.zeros(K)
                for r in range(k):
                    a, b = active[r], base[owner[active[r]]]
                    if a < m:
                        change[kind[a]] += weights[r]
                    if b < m:
                        change[kind[b]] -= weights[r]
                    if u[a] + weights[r] > 0.0 and u[b] - weights[r] > 0.0:
                        u[a] += weights[r]
                        u[b] -= weights[r]
                write(u[:m], at)
                _gather(D, Z, change, S)
            _slacks(D, Z, S, tau, q)
            square = pair_all(S, S)
            noise = 0.0
            done = changes == 0 and abs(np.sqrt(square) - goal) <= 16 * EPS * goal
        for r in range(k):
            a, b = active[r], base[owner[active[r]]]
            weights[r] = (1.0 if a < m else 0.0) - (1.0 if b < m else 0.0)
        forward(L, k, weights)
        gain = pair(weights[:k], weights[:k])
        backward(L, k, weights)
        rate[:] = 0.0
        _trade(atoms, weights, k, rate)
        if done:
            return S, tau, rate[:m], gain, count
        if square < goal**2:
            lower = max(lower, tau)
        else:
            upper = min(upper, tau)
        ahead = tau**2 + (goal**2 - square) / gain if gain > 0.0 else -1.0
        following = np.sqrt(ahead) if ahead > 0.0 else -1.0
        if not (lower < following < upper):
            following = np.sqrt(lower * upper) if lower > 0.0 else 0.1 * upper
        for j in range(K):
            q[j] += following - tau
        tau = following
    return S, tau, rate[:m], gain, limit

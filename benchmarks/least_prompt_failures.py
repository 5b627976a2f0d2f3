"""The least data on which descent on a prompt converges to no max-margin solution, certified.

    python -m benchmarks.least_prompt_failures [--instances N] [--seed S]

What is hunted is `mm/general-data:literal`: descent converges in direction to p(alpha) of the
tokens that it selects, whatever these are. Of every shape in `SHAPES` N data sets of small integers
with different scores are drawn, after those that statements name, each with a loss of l' < 0 and a
step of 1/L, 1/(2L) or 1/(4L). They are run from zero, and from two starts of small integers and
from four times p of two worse choices of tokens. A run fails where balls or rationals prove that
its direction does not converge to that of p(alpha): it is at rest at zero, or ends at a finite norm
in another direction. What neither fails nor is proved to converge is counted as open.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from flint import ctx, fmpz_mat

from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.hypotheses import exists, unique_optimum
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import SHARES
from attsvm.strategies.adversarial_starts import choices, towards
from benchmarks.least_failures import Shape, least_sizes
from properties.mm._support import prompt_instances as named
from properties.mm._support.prompt_descent import prompting
from properties.mm.general_data import certified_separates
from properties.tf._support.token_choices import all_solved

SHAPES = [
    *((1, T, d) for T in (2, 3, 4) for d in (1, 2, 3, 4)),
    *((2, 2, d) for d in (1, 2, 3, 4)),
    *((2, 3, d) for d in (1, 2, 3, 6)),
    *((3, 2, d) for d in (1, 2, 3)),
]
"""(n, T, d)."""


def solved(case: Descent) -> bool:
    """Optimal tokens are unique, and each choice of one token an input has a p(alpha)."""
    return bool(unique_optimum(case) and all_solved(case.data))


def independent(case: Descent) -> bool:
    """The differences of keys, T - 1 an input, are linearly independent; keys are integers."""
    rows = (case.inputs.X[:, 1:] - case.inputs.X[:, :1]).reshape(-1, case.inputs.X.shape[2])
    return bool(fmpz_mat(rows.astype(int).tolist()).rank() == len(rows))


def large(case: Descent) -> bool:
    """There are as many dimensions as tokens."""
    n, T, d = case.inputs.X.shape
    return bool(d >= n * T)


SUPPOSED: dict[str, Callable[[Descent], bool]] = {
    "nothing else": lambda case: True,
    "no input repeats a key": lambda case: all(
        len(set(map(tuple, keys))) == len(keys) for keys in case.inputs.X.tolist()
    ),
    "unique optimal tokens have a p(alpha)": lambda case: exists(case) and unique_optimum(case),
    "the same, and d >= n T": lambda case: exists(case) and unique_optimum(case) and large(case),
    "every choice of tokens has a p(alpha)": solved,
    "the same, and d >= n T too": lambda case: solved(case) and large(case),
    "differences of keys are linearly independent": independent,
}
"""Scores of an input differ throughout, but in data that statements name."""
STUCK_IN_SPACE = prompting([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], [[1, -4, 0]])
"""`STUCK` along an axis of R^3."""
QUADRILATERAL = prompting([[[3, 2], [1, 0], [0, 0], [0, 1]]], [[1, -3, 4, -2]])
"""Scores sum to 0 and are the coefficients with which the keys do: at rest at 0 for every loss."""
FLAT = replace(
    QUADRILATERAL,
    inputs=Keys(
        np.concatenate([QUADRILATERAL.inputs.X, 0 * QUADRILATERAL.inputs.X], axis=2),
        QUADRILATERAL.inputs.scores,
    ),
    start=np.zeros(4),
)
"""The same in a plane of R^4."""
NAMED = (named.STUCK, named.ONE_KEY, named.OPPOSED, STUCK_IN_SPACE, QUADRILATERAL, FLAT)
HEADER = "| supposed | start | least d | least n | least T | data sets | runs | open |"


def drawn(generator: np.random.Generator, shape: Shape) -> Descent:
    """Integers up to 3, scores of an input that differ, from zero."""
    n, T, d = shape
    keys = generator.integers(-3, 4, size=shape).astype(float)
    scores = np.array([generator.permutation([*range(3 - T, 2), -5.0])[:T] for _ in range(n)])
    loss, step = str(generator.choice(SLOPED)), float(generator.choice(SHARES))
    return Descent(Keys(keys, scores), np.zeros(d), loss, step=step)


def elsewhere(generator: np.random.Generator, case: Descent) -> list[Descent]:
    """The same data from two starts of integers up to 4 and from four times p of worse choices."""
    d = len(case.start)
    starts = list(generator.integers(-4, 5, size=(2, d)).astype(float))
    if exists(case) and unique_optimum(case):
        starts += [4.0 * towards(case.data, one)[0][:, 0] for one in choices(case.data)[:2]]
    return [replace(case, start=p) for p in starts if p.any()]


def instances(shape: Shape, seed: int, number: int) -> Iterator[Descent]:
    """Of data that statements name, then of others; from zero."""
    for case in NAMED:
        if case.inputs.X.shape == shape:
            yield replace(case, start=np.zeros_like(case.start))
    generator = np.random.default_rng([seed, *shape])
    for _ in range(number):
        yield drawn(generator, shape)


def judged(case: Descent) -> bool | None:
    """Whether the run is proved to converge to p(alpha), or proved not to; None where neither."""
    with ctx.workprec(128):
        found = certified_separates(case)
    if found is None:
        return None
    return True if found > 0 else False if found < 0 else None


def in_words(case: Descent) -> str:
    """The numbers of an instance."""
    said = f"{case.loss}, step {case.step:g}/L: keys {case.inputs.X.tolist()}, scores "
    start = f", p(0) = {case.start.tolist()}" if case.start.any() else ""
    return re.sub(r"\.0\b", "", f"{said}{case.inputs.scores.tolist()}{start}")


def main() -> None:
    """Prints the table and the instances that it names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=24, help="data sets of each shape")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(HEADER, "| --- " * 8 + "|", sep="\n")
    sets, runs, left = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    fallen: dict[tuple[str, str], dict[Shape, Descent]] = {}
    for shape in SHAPES:
        generator = np.random.default_rng([chosen.seed, 1, *shape])
        for case in instances(shape, chosen.seed, chosen.instances):
            held = [name for name, holds in SUPPOSED.items() if holds(case)]
            sets.update(held)
            answers = [(judged(one), one) for one in (case, *elsewhere(generator, case))]
            for start, some in (("zero", answers[:1]), ("any", answers)):
                lost = next((one for answer, one in some if answer is False), None)
                for name in held:
                    runs[name, start] += len(some)
                    left[name, start] += sum(answer is None for answer, _ in some)
                    if lost is not None:
                        fallen.setdefault((name, start), {}).setdefault(shape, lost)
    words: dict[str, str] = {}
    for key in itertools.product(SUPPOSED, ("zero", "any")):
        least = least_sizes(fallen.get(key, {}), in_words, words)
        counts = map(str, (sets[key[0]], runs[key], left[key]))
        print("|", " | ".join([*key, *least, *counts]), "|")
    for text, name in words.items():
        print(f"\n{name} {text}")


if __name__ == "__main__":
    main()

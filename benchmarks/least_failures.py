"""The least data on which descent fails to converge globally, certified, by what is supposed.

    python -m benchmarks.least_failures [--instances N] [--seed S]

Of every shape in `SHAPES` N data sets of small integers are drawn, after those that statements
name; those count whose optimal tokens are unique and whose Att-SVM is feasible. Descent on W takes
steps of 1/L on the log-loss or -u, from zero and from starts that are misled: four times W^mm of
choices with a worse token. A run fails where balls or rationals prove that its direction does not
converge to that of W^mm. With the query e_1 descent on W is descent on a prompt p: those are
counted apart.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from flint import ctx

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import all_tight, exists, unique_optimum
from attsvm.strategies.adversarial_starts import choices, towards
from properties.sim._support.training import ONE_DRAGGED
from properties.sim.theorem_3_14_part_1 import BEYOND
from properties.tf._support.descent_instances import NOT_ALIGNED, descent
from properties.tf._support.token_choices import all_solved, all_support_everywhere
from properties.tf.global_conjecture import OBTUSE, OUTRUN, PASSED

SHAPES = [
    *((1, T, d) for T in (2, 3, 4) for d in (1, 2, 3, 4)),
    *((2, 2, d) for d in (1, 2, 3, 4)),
    *((2, 3, d) for d in (1, 2, 3, 6)),
    (2, 4, 4),
]
"""(n, T, d)."""
SUPPOSED: dict[str, Callable[[AttentionData], bool]] = {
    "nothing else": lambda data: True,
    "d >= n T": lambda data: data.d >= data.n * data.T,
    "all tokens are support vectors": all_tight,
    "and in all Local-SVMs, which have solutions": lambda data: (
        all_solved(data) and all_support_everywhere(data)
    ),
}
NAMED = (PASSED, NOT_ALIGNED, OBTUSE, OUTRUN, descent(BEYOND), descent(ONE_DRAGGED, "correlation"))
"""Known failures, of query e_1."""
Pair = tuple[Descent, list[Descent]]
Shape = tuple[int, int, int]
HEADER = "| descent on | supposed | start | least d | least n | least T | data sets |"


def drawn(generator: np.random.Generator, shape: Shape, prompt: bool) -> Descent:
    """Integers up to 3, scores of an input that differ, from zero."""
    n, T, d = shape
    X = generator.integers(-3, 4, size=(n, T, d)).astype(float)
    Z = np.eye(1, d).repeat(n, axis=0) if prompt else generator.integers(-1, 2, (n, d)) * 1.0
    scores = np.array([generator.permutation([*range(3 - T, 2), -5.0])[:T] for _ in range(n)])
    loss = str(generator.choice(["log-loss", "correlation"]))
    return Descent(AttentionData(X, Z, scores=scores), np.zeros((d, d)), loss)


def instances(shape: Shape, prompt: bool, seed: int, number: int) -> Iterator[Pair]:
    """A descent from zero and some from elsewhere: of data that statements name, then of others."""
    for case in NAMED:
        if case.data.X.shape == shape:
            zero = replace(case, start=np.zeros_like(case.start))
            yield zero, [case] if case.start.any() else adversarial_start(case)
    generator = np.random.default_rng([seed, prompt, *shape])
    for _ in range(number):
        case = drawn(generator, shape, prompt)
        yield case, adversarial_start(case)


def adversarial_start(case: Descent) -> list[Descent]:
    """The same data from four times W^mm of the first two worse choices."""
    aims = (towards(case.data, chosen)[0] for chosen in choices(case.data)[:2])
    return [Descent(case.data, 4.0 * W, case.loss) for W in aims]


def fails(case: Descent) -> bool:
    """Whether the run is proved not to converge in direction to W^mm."""
    with ctx.workprec(128):
        found = DIRECTION.balls(case)
    return found is not None and bool(found < 0)


def in_words(case: Descent) -> str:
    """The numbers of an instance."""
    data, start = case.data, case.start
    parts = {"tokens": data.X, "queries": data.Z, "scores": data.gamma}
    said = f"{case.loss}: " + ", ".join(f"{name} {x.tolist()}" for name, x in parts.items())
    return re.sub(r"\.0\b", "", said + (f", W(0) = {start.tolist()}" if start.any() else ""))


def least_sizes(
    shapes: Mapping[Shape, Any], in_words: Callable[[Any], str], named: dict[str, str]
) -> Iterator[str]:
    """The least d, n and T of shapes that fail, each with the number that its instance goes by."""
    for axis in (2, 0, 1):
        least = min(shapes, key=lambda s: (s[axis], s), default=None)
        if least is None:
            yield "none"
        else:
            name = named.setdefault(in_words(shapes[least]), f"[{len(named) + 1}]")
            yield f"{least[axis]} {name}"


def main() -> None:
    """Prints the table and the instances that it names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=24, help="data sets of each shape")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(HEADER, "| --- " * 7 + "|", sep="\n")
    named: dict[str, str] = {}
    for prompt in (False, True):
        counted: Counter[tuple[str, str]] = Counter()
        fallen: dict[tuple[str, str], dict[Shape, Descent]] = {}
        for shape in SHAPES:
            for case, others in instances(shape, prompt, chosen.seed, chosen.instances):
                if not (exists(case) and unique_optimum(case)):
                    continue
                held = [name for name, holds in SUPPOSED.items() if holds(case.data)]
                for start, cases in (("zero", [case]), ("misled", others)):
                    open_ = [x for x in held if shape not in fallen.get((x, start), {})]
                    for name in held:
                        counted[name, start] += 1
                    lost = next((c for c in cases if fails(c)), None) if open_ else None
                    if lost is not None:
                        for name in open_:
                            fallen.setdefault((name, start), {})[shape] = lost
        for key in itertools.product(SUPPOSED, ("zero", "misled")):
            least = least_sizes(fallen.get(key, {}), in_words, named)
            what = "p" if prompt else "W"
            print("|", " | ".join([what, *key, *least, str(counted[key])]), "|")
    for text, name in named.items():
        print(f"\n{name} {text}")


if __name__ == "__main__":
    main()

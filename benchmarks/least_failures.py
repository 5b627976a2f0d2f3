"""The smallest data, by hypotheses, for which descent certifiably fails to converge as claimed.

    python -m benchmarks.least_failures [W p prompt ...] [--instances N] [--seed S]

For each shape of a campaign, the data sets that statements name are tried first, and then N drawn
data sets of small integers. A run fails if balls or rationals prove that its direction does not
converge to that of the claimed solution. The campaigns:

- `W`: descent on W with steps of 1/L on the log-loss or -u, from zero and from starts that are
  misled: four times W^mm of choices with a worse token. Data count if their optimal tokens are
  unique and the Att-SVM is feasible; the claimed solution is W^mm.
- `p`: the same with the query e_1, for which descent on W is descent on a prompt p.
- `head`: as `W`, with scores Y_i <v, x_it> of labels and a linear head of integers.
- `prompt`: `mm/general-data:literal` claims that descent on a prompt converges to p(alpha), where
  alpha are the tokens that it selects. The loss has l' < 0, and the step is 1/L, 1/(2L) or 1/(4L).
  Runs start from zero, from two vectors of small integers, and from four times p of two worse
  choices. Runs that neither fail nor are proved to converge are counted as open.
"""

import argparse
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import ctx, fmpz_mat

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.hypotheses import all_tight, exists, unique_optimum
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import SHARES
from attsvm.strategies.adversarial_starts import choices, towards
from properties._support.small_runs import ONE_DRAGGED
from properties._support.token_choices import all_solved, all_support_everywhere
from properties.mm._support import prompt_instances as prompts
from properties.mm._support.prompt_descent import prompting
from properties.mm.general_data.conclusion import certified_separates
from properties.sim.theorem_3_14_part_1 import BEYOND
from properties.tf._support import descent_instances as tf
from properties.tf._support.descent_instances import DIRECTION, NOT_ALIGNED, descent
from properties.tf.global_conjecture.instances import DRAGGED, OBTUSE, OUTRUN, PASSED

Shape = tuple[int, int, int]
"""The sizes (n, T, d) of a data set."""

Draw = np.random.Generator

FEW = [
    *((1, T, d) for T in (2, 3, 4) for d in (1, 2, 3, 4)),
    *((2, 2, d) for d in (1, 2, 3, 4)),
    *((2, 3, d) for d in (1, 2, 3, 6)),
]


@dataclass(frozen=True, slots=True)
class Campaign:
    """One search for the least data.

    Attributes:
        shapes: the shapes of the data.
        named: known failures.
        supposed: conditions on the data by name; each has its own search for the least failure.
        drawn: draws a run from zero.
        starts: names of the two kinds of starts: zero, and those of `others`.
        others: returns runs on the same data from other starts.
        judged: True for a run that is proved to converge, False for one that is proved to fail,
            else None.
        salt: numbers that are added to the seed of each shape.
        counts_open: whether all runs are judged and the undecided ones counted.
    """

    shapes: list[Shape]
    named: tuple[Descent, ...]
    supposed: Mapping[str, Callable[[Descent], bool]]
    drawn: Callable[[Draw, Shape], Descent]
    starts: tuple[str, str]
    others: Callable[[Draw, Descent], list[Descent]]
    judged: Callable[[Descent], bool | None]
    salt: tuple[int, ...] = ()
    counts_open: bool = False

    def instances(
        self, shape: Shape, seed: int, number: int
    ) -> Iterator[tuple[Descent, list[Descent]]]:
        """Yield a run from zero and others: on data that statements name, then on drawn data."""
        away = np.random.default_rng([seed, 1, *shape])
        for case in self.named:
            if case.data.X.shape == shape:
                zero = replace(case, start=np.zeros_like(case.start))
                own = not self.counts_open and case.start.any()
                yield zero, [case] if own else self.others(away, zero)
        draw = np.random.default_rng([seed, *self.salt, *shape])
        for _ in range(number):
            case = self.drawn(draw, shape)
            yield case, self.others(away, case)


def _scores(draw: Draw, n: int, T: int) -> Any:
    """Return scores (n, T) that differ within each input."""
    return np.array([draw.permutation([*range(3 - T, 2), -5.0])[:T] for _ in range(n)])


def _drawn(draw: Draw, shape: Shape, prompt: bool) -> Descent:
    """Return descent on W from zero, with tokens of integers up to 3."""
    n, T, d = shape
    X = draw.integers(-3, 4, size=(n, T, d)).astype(float)
    Z = np.eye(1, d).repeat(n, axis=0) if prompt else draw.integers(-1, 2, (n, d)) * 1.0
    data = AttentionData(X, Z, scores=_scores(draw, n, T))
    return Descent(data, np.zeros((d, d)), str(draw.choice(["log-loss", "correlation"])))


def _headed(draw: Draw, shape: Shape) -> Descent:
    """Return descent on W from zero; tokens, labels and head are integers up to 3."""
    n, _, d = shape
    X, Z, v = (draw.integers(-3, 4, size=s) * 1.0 for s in (shape, (n, d), d))
    data = AttentionData(X, Z, y=draw.choice([-1.0, 1.0], n), v=v)
    return Descent(data, np.zeros((d, d)), str(draw.choice(["log-loss", "correlation"])))


def _misled(draw: Draw, case: Descent) -> list[Descent]:
    """Return runs from four times W^mm of the first two worse choices."""
    aims = (towards(case.data, chosen)[0] for chosen in choices(case.data)[:2])
    return [Descent(case.data, 4.0 * W, case.loss) for W in aims]


def _to_w_mm(case: Descent, bits: int = 128) -> bool | None:
    return _decided(DIRECTION.balls, case, bits)


def _to_w_mm_finely(case: Descent) -> bool | None:
    return _to_w_mm(case, bits=256)


def _decided(balls: Callable[..., Any], case: Descent, bits: int = 128) -> bool | None:
    with ctx.workprec(bits):
        result = balls(case)
    return None if result is None else True if result > 0 else False if result < 0 else None


def _of_w(holds: Callable[[AttentionData], bool]) -> Callable[[Descent], bool]:
    return lambda case: bool(exists(case) and unique_optimum(case) and holds(case.data))


OF_W = {
    "nothing else": _of_w(lambda data: True),
    "d >= n T": _of_w(lambda data: data.d >= data.n * data.T),
    "all tokens are support vectors": _of_w(all_tight),
    "and in all Local-SVMs, which have solutions": _of_w(
        lambda data: all_solved(data) and all_support_everywhere(data)
    ),
}
ON_AXIS = tf.from_zero([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], scores=[[1.0, -5.0, 0.0]])
"""From zero descent moves to the token (-2, 0, 0); no linear head gives these scores."""
OF_E_1 = (
    ON_AXIS,
    NOT_ALIGNED,
    OBTUSE,
    OUTRUN,
    descent(BEYOND),
    descent(ONE_DRAGGED, "correlation"),
)
"""Known failures of descent on W with the query e_1."""


def solved(case: Descent) -> bool:
    """Return whether optimal tokens are unique, and each choice of tokens has a p(alpha)."""
    return bool(unique_optimum(case) and all_solved(case.data))


def independent(case: Descent) -> bool:
    """Return whether the T - 1 differences of keys of all inputs are linearly independent."""
    rows = (case.inputs.X[:, 1:] - case.inputs.X[:, :1]).reshape(-1, case.inputs.X.shape[2])
    return bool(fmpz_mat(rows.astype(int).tolist()).rank() == len(rows))


def large(case: Descent) -> bool:
    """Return whether there are as many dimensions as tokens."""
    n, T, d = case.inputs.X.shape
    return bool(d >= n * T)


OF_PROMPTS: dict[str, Callable[[Descent], bool]] = {
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
"""Conditions on descent on a prompt, by name. Drawn scores of an input always differ."""
STUCK_IN_SPACE = prompting([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], [[1, -4, 0]])
"""`STUCK` along an axis of R^3."""
QUADRILATERAL = prompting([[[3, 2], [1, 0], [0, 0], [0, 1]]], [[1, -3, 4, -2]])
"""Scores, and keys weighted by them, sum to 0: p = 0 is at rest for every loss."""
FLAT = replace(
    QUADRILATERAL,
    inputs=Keys(
        np.concatenate([QUADRILATERAL.inputs.X, 0 * QUADRILATERAL.inputs.X], axis=2),
        QUADRILATERAL.inputs.scores,
    ),
    start=np.zeros(4),
)
"""`QUADRILATERAL` in a plane of R^4."""
OF_KEYS = (prompts.STUCK, prompts.ONE_KEY, prompts.OPPOSED, STUCK_IN_SPACE, QUADRILATERAL, FLAT)


def _prompted(draw: Draw, shape: Shape) -> Descent:
    """Return descent on a prompt from zero, with keys of integers up to 3."""
    n, T, d = shape
    keys = draw.integers(-3, 4, size=shape).astype(float)
    scores = _scores(draw, n, T)
    loss, step = str(draw.choice(SLOPED)), float(draw.choice(SHARES))
    return Descent(Keys(keys, scores), np.zeros(d), loss, step=step)


def _elsewhere(draw: Draw, case: Descent) -> list[Descent]:
    """Return runs from two starts of integers up to 4 and from four times p of worse choices."""
    starts = list(draw.integers(-4, 5, size=(2, len(case.start))).astype(float))
    if exists(case) and unique_optimum(case):
        starts += [4.0 * towards(case.data, one)[0][:, 0] for one in choices(case.data)[:2]]
    return [replace(case, start=p) for p in starts if p.any()]


def _to_p_alpha(case: Descent) -> bool | None:
    return _decided(certified_separates, case)


def _on_w(prompt: bool) -> Campaign:
    named, starts = OF_E_1, ("zero", "misled")

    def drawn(draw: Draw, shape: Shape) -> Descent:
        return _drawn(draw, shape, prompt)

    shapes = [*FEW, (2, 4, 4)]
    return Campaign(shapes, named, OF_W, drawn, starts, _misled, _to_w_mm, (int(prompt),))


OF_HEADS = (
    *(tf.OBTUSE, tf.PASSED, NOT_ALIGNED, OBTUSE, PASSED, DRAGGED, OUTRUN),
    *(tf.TRAP, tf.SHARED_TOKEN, tf.ONE_OF_FOUR),
)
"""Known failures with scores of labels and a linear head."""

CAMPAIGNS = {
    "head": Campaign(
        [*FEW, (2, 4, 4)], OF_HEADS, OF_W, _headed, ("zero", "misled"), _misled,
        _to_w_mm_finely, (2,),
    ),
    "W": _on_w(prompt=False),
    "p": _on_w(prompt=True),
    "prompt": Campaign(
        [*FEW, *((3, 2, d) for d in (1, 2, 3))], OF_KEYS, OF_PROMPTS, _prompted, ("zero", "any"),
        _elsewhere, _to_p_alpha, counts_open=True,
    ),
}  # fmt: skip


def in_words(case: Descent) -> str:
    """Return a text with all numbers of an instance."""
    data, start = case.data, case.start
    parts = {"tokens": data.X, "queries": data.Z, "scores": data.gamma}
    if data.y is not None and data.v is not None:
        parts |= {"labels": data.y, "head": data.v}
    words = f"{case.loss}, step {case.step:g}/L: "
    words += ", ".join(f"{name} {x.tolist()}" for name, x in parts.items())
    return re.sub(r"\.0\b", "", words + (f", start {start.tolist()}" if start.any() else ""))


def least_sizes(shapes: Mapping[Shape, Descent], numbers: dict[str, str]) -> Iterator[str]:
    """Yield the least d, n and T of the shapes that fail, each with a reference to its instance.

    `numbers` has the references by instance, and receives new ones.
    """
    for axis in (2, 0, 1):
        least = min(shapes, key=lambda s: (s[axis], s), default=None)
        if least is None:
            yield "none"
        else:
            number = numbers.setdefault(in_words(shapes[least]), f"[{len(numbers) + 1}]")
            yield f"{least[axis]} {number}"


def rows(name: str, number: int, seed: int, numbers: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each condition and start of a campaign."""
    campaign = CAMPAIGNS[name]
    sets, runs, left = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    fallen: dict[tuple[str, str], dict[Shape, Descent]] = {}
    for shape in campaign.shapes:
        for zero, others in campaign.instances(shape, seed, number):
            held = [what for what, holds in campaign.supposed.items() if holds(zero)]
            sets.update(held)
            answers: dict[int, bool | None] = {}
            either = [zero, *others] if campaign.counts_open else others
            for start, cases in zip(campaign.starts, ([zero], either), strict=True):
                open_ = [what for what in held if shape not in fallen.get((what, start), {})]
                lost = None
                for case in cases if open_ or campaign.counts_open else ():
                    if id(case) not in answers:
                        answers[id(case)] = campaign.judged(case)
                    answer = answers[id(case)]
                    runs.update((what, start) for what in held)
                    left.update((what, start) for what in held if answer is None)
                    lost = case if answer is False and lost is None else lost
                    if lost is not None and not campaign.counts_open:
                        break
                for what in open_ if lost is not None else ():
                    fallen.setdefault((what, start), {})[shape] = lost
    for what, start in itertools.product(campaign.supposed, campaign.starts):
        least = least_sizes(fallen.get((what, start), {}), numbers)
        counted = (runs[what, start], left[what, start]) if campaign.counts_open else ("", "")
        yield (name, what, start, *least, *map(str, (sets[what], *counted)))


def main() -> None:
    """Print the table and the instances that it names."""
    formatter = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=", ".join(CAMPAIGNS))
    parser.add_argument("--instances", type=int, default=24, help="data sets of each shape")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if unknown := {*options.campaigns} - {*CAMPAIGNS}:
        parser.error(f"no such campaign: {', '.join(sorted(unknown))}")
    columns = [
        "descent on",
        "supposed",
        "start",
        "least d",
        "least n",
        "least T",
        "data sets",
        "runs",
        "open",
    ]
    print(f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|", sep="\n")
    numbers: dict[str, str] = {}
    for name in options.campaigns or ("W", "p"):
        for row in rows(name, options.instances, options.seed, numbers):
            print(f"| {' | '.join(row)} |")
    for text, number in numbers.items():
        print(f"\n{number} {text}")


if __name__ == "__main__":
    main()

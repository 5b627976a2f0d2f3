"""`attsvm solve` solves the Att-SVM of a user's data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._files import make_parents
from attsvm._live import Live
from attsvm._threads import single_threaded
from attsvm.cli.arguments import Parsers, price, seconds, tell
from attsvm.cli.running import ensure_file, ensure_json
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm.heads import Comparison
    from attsvm.svm.certified import Answer

_SHOWN = 10
"""Maximum number of droppable tokens that are printed."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("solve", help="solve the Att-SVM of your own data")
    parser.add_argument(
        "data",
        metavar="DATA.npz",
        help="arrays X, Z and scores, or y and v; optionally mask, W, values",
    )
    parser.add_argument(
        "--norm", choices=["fro", "nuc"], default="fro", help="norm to minimise (default fro)"
    )
    parser.add_argument(
        "--targets",
        default="opt",
        metavar="opt|I,J,...",
        help="tokens to select: the optimal ones (default), or one index per input, from 0 on",
    )
    parser.remedies["--targets"] = "Indices start at 0; join them by =, as in --targets=0,2."
    parser.add_argument(
        "--soft", type=price, metavar="C", help="allow slack at this price (soft margin)"
    )
    parser.add_argument(
        "--slack",
        choices=["constraint", "input"],
        help="with --soft: one slack per constraint or per input (default constraint)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
        metavar="S",
        help="budget of processor time in seconds, without compilation (default 60)",
    )
    parser.add_argument(
        "--wall",
        type=seconds,
        metavar="S",
        help="budget of wall-clock time in seconds, without compilation (default: no limit)",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the margins to this file (png, svg, pdf)"
    )


def run(options: argparse.Namespace) -> int:
    """Solve the Att-SVM; return 0, or 1 if the tokens cannot be separated."""
    # sums depend on the number of threads, and all threads count as processor time
    single_threaded()
    from attsvm.plots.style import ensure_drawable

    targets = _targets(options.targets)
    if options.soft is not None and options.norm == "nuc":
        raise UsageError(
            "the soft margin is defined with the Frobenius norm",
            value="--norm nuc --soft",
            remedy="Leave one of the two out.",
        )
    if options.slack is not None and options.soft is None:
        raise UsageError("--slack needs a soft margin", remedy="Give --soft C as well.")
    ensure_json(options.json)
    if options.plot:
        ensure_drawable(Path(options.plot))
        ensure_file(options.plot, "--plot")
    with Live(line="solving"):  # it ends before anything is printed
        answer, compared = _solved(options, targets)
    if compared is None:
        tell(options, answer.json(), [answer])
    else:
        lines = [answer, compared, *_droppable(compared.cheapest)]
        tell(options, answer.json() | {"head": compared.json()}, lines)
    if options.plot and answer.solved:
        make_parents(options.plot)
        answer.plot(options.plot)
    elif options.plot:
        print("attsvm: no plot: there are no margins to draw", file=sys.stderr)
    return 0 if answer.solved else 1


def _targets(text: str) -> list[int] | None:
    """Return the token indices of --targets; None for the optimal tokens.

    Raises:
        UsageError: the text is neither `opt` nor integers.
    """
    if text == "opt":
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        raise UsageError("targets are `opt` or integers separated by commas", value=text) from error


def _solved(
    options: argparse.Namespace, targets: list[int] | None
) -> tuple[Answer, Comparison | None]:
    """Return the answer, and the comparison with the head of the file, if it has one."""
    from attsvm.heads import read_head
    from attsvm.svm.answer import SECONDS, solve
    from attsvm.svm.soft import SoftAnswer

    data, head = read_head(options.data)
    time = {"seconds": options.seconds or SECONDS, "wall": options.wall}
    answer = solve(
        data,
        targets,
        norm=options.norm,
        soft=options.soft,
        slack=options.slack or "constraint",
        **time,
    )
    if head is None:
        return answer, None
    plain = options.soft is None and (answer.targets == head.targets).all()
    mine = answer if plain else solve(head.data, head.targets, norm=options.norm, **time)
    result = mine.float_answer
    return answer, head.compare(options.norm, None if isinstance(result, SoftAnswer) else result)


def _droppable(tokens: list[tuple[int, int, float]]) -> Iterator[str]:
    """Yield one line for each of the cheapest droppable tokens."""
    for i, t, moved in tokens[:_SHOWN]:
        yield f"  input {i} token {t}: dropping it moves the output by {moved:.3g} of its length"
    if len(tokens) > _SHOWN:
        yield f"  and {len(tokens) - _SHOWN} more (--json has all)"

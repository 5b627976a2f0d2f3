"""Ten public questions of `examples/questions`: lines to ask each, answer, and seconds.

`python -m benchmarks.questions [--seconds S]` asks the ten one by one and prints a table. A line
has up to 100 characters of the call without spare white space. The expected answer is not counted,
as `ask` needs none. Seconds are those until the answer, with the search for a smaller instance.
"""

from __future__ import annotations

import argparse
import ast
import math
import time
from pathlib import Path
from typing import Any

from attsvm.theory.packs.questions import questions_in
from attsvm.theory.report.answer import answered

FOLDER = Path(__file__).parents[1] / "examples" / "questions"

TEN = {
    "matrices.py": (
        "SIGN_OF_A_FORM",
        "EQUAL_FORMS",
        "TRACE_OF_ANY",
        "ORDER_OF_SQUARES",
        "SUBMULTIPLICATIVE",
        "TRACE_OF_SEMIDEFINITE",
        "DETERMINANT_GROWS",
    ),
    "numbers.py": ("SQUARES_ARE_ORDERED", "ROOT_TIMES_NUMBER", "PRODUCTS_ARE_ORDERED"),
}
"""Names of questions by file; seven are false."""

_WIDTH = 100


def lines_of(file: Path) -> dict[str, int]:
    """Return the number of lines to ask each question of a file."""
    counts = {}
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                call.keywords = [word for word in call.keywords if word.arg != "expected"]
                call.func = ast.Name("ask")
                counts[name] = math.ceil(len(ast.unparse(call)) / _WIDTH)
    return counts


def rows(seconds: float) -> list[tuple[str, int, str, float]]:
    """Return name, lines, answer and seconds of each of the ten questions."""
    measured = []
    for name, chosen in TEN.items():
        counts = lines_of(FOLDER / name)
        asked: dict[str, Any] = dict(questions_in(str(FOLDER / name)))
        for one in chosen:
            start = time.perf_counter()
            answer = answered(asked[one], seconds)
            measured.append((one, counts[one], answer.verdict, time.perf_counter() - start))
    return measured


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="limit of each (default 8)")
    options = parser.parse_args()
    print("| question | lines | answer | seconds |")
    print("| --- | --- | --- | --- |")
    for name, count, verdict, used in rows(options.seconds):
        print(f"| `{name}` | {count} | {verdict} | {used:.1f} |")


if __name__ == "__main__":
    main()

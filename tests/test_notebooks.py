"""The notebooks in examples/notebooks run, and show what they are stored with.

`python -m tests.test_notebooks` runs them and stores their outputs anew.
"""

import ast
import contextlib
import io
import json
import os
import re
from pathlib import Path

import pytest

from attsvm import show

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


def lines(text):
    """A text as notebooks store it."""
    return text.splitlines(keepends=True)


def run(source, names):
    """The outputs of a cell: what it prints, then its last value as text."""
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(text)})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def cells(path):
    """The code cells of a notebook, each with its outputs of now."""
    notebook, names = json.loads(path.read_text()), {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield cell, run("".join(cell["source"]), names)


_BY_MACHINE = re.compile(
    r"\d[\d.]*e-\d\d+|\b0\.0e\+00"  # sizes of rounding errors
    r"|\d+ (?=instance|turn|refused|times closer)|(?<=\d/\d) +\d+ +[\d.]+"  # searches
)


def steady(outputs):
    """Return outputs without figures that a processor, or a version of Hypothesis, decides.

    These are counts of executions, sizes of rounding errors, and how many instances a search drew
    and how near they came. Verdicts and counterexamples are among what stays.
    """
    said = json.dumps([{**o, "execution_count": 0} for o in outputs], sort_keys=True)
    return re.sub(" +", " ", _BY_MACHINE.sub("_", said))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_computes(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    for cell, outputs in cells(path):
        assert steady(outputs) == steady(cell["outputs"]), "".join(cell["source"])
        assert len(json.dumps(outputs)) < 30_000


def test_there_are_three_and_another_output_is_noticed():
    assert len(NOTEBOOKS) == 3
    assert steady(run("1 + 1", {})) != steady(run("1 + 2", {}))
    assert steady(run("print(1)", {})) != steady([])
    assert steady(run("'gap 1.0e-16'", {})) == steady(run("'gap 3.1e-17'", {}))
    assert steady(run("'took 2.5 s'", {})) != steady(run("'took 9.1 s'", {}))
    drawn, other = (
        "'drawn 1 turn,  20 instances, 3 times closer'",
        "'drawn 1 turn, 7 instances, 15 times closer'",
    )
    assert steady(run(drawn, {})) == steady(run(other, {}))
    assert steady(run(drawn, {})) != steady(run(drawn.replace("drawn", "explicit"), {}))
    row = "'refuted  certified  exercised       2/2          9    1.1'"
    assert steady(run(row, {})) == steady(run(row.replace("    9    1.1", "  12   1.23"), {}))
    assert steady(run(row, {})) != steady(run(row.replace("2/2", "1/2"), {}))


def test_what_is_shown_of_a_typed_statement_is_the_same_in_every_session():
    typed = (ROOT / "examples/my_claim.py").read_text()
    said = set()
    for file in ("ipykernel_17/2718.py", "ipykernel_31/8281.py"):  # as Jupyter names them
        names = {"__name__": "__main__"}
        exec(compile(typed, file, "exec"), names)
        said.add(repr(show(names["LIPSCHITZ"])))
    assert len(said) == 1
    assert "typed, line" in said.pop()


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for file in NOTEBOOKS:
        whole = json.loads(file.read_text())
        made = iter(list(cells(file)))
        for number, own in enumerate((c for c in whole["cells"] if c["cell_type"] == "code"), 1):
            own["outputs"], own["execution_count"] = next(made)[1], number
            for output in own["outputs"]:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = number
        file.write_text(json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n")

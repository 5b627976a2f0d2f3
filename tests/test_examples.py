"""The README's examples are the files that it speaks of, and they run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attsvm import AttentionData, att_svm
from attsvm.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_claim_in_the_readme_is_the_one_in_the_example():
    block = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "@claim" in b)
    assert block.strip() in (ROOT / "examples/my_claim.py").read_text(encoding="utf-8")


def test_the_python_in_the_readme_runs(capsys):
    blocks = [b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "@claim" not in b]
    names: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "0.25" in printed  # (1, 0) - (0, 1) on both entries of z = (1, 1): norm^2 of A is 4
    assert names["curve"].norms[0, -1] >= 1e4
    assert names["run"].norms[0, -1] > 1.0


def test_the_page_on_the_svm_family_runs(capsys):
    page = (ROOT / "docs/svm.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) >= 4
    names: dict = {}
    for block in blocks:
        exec(compile(block, "docs/svm.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "certified: residual and gap of this W are proved in rational arithmetic" in printed
    assert names["exact"].status == "solved"
    logits = names["data"].X[0] @ (names["W_fin"] @ names["data"].Z[0])
    assert abs(logits[2] - logits[0] - np.log(3.0)) <= 1e-12


def test_the_page_on_training_runs():
    page = (ROOT / "docs/training.md").read_text(encoding="utf-8")
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, "docs/training.md", "exec"), names)
    assert names["run"].W.shape == (1, 3, 2, 2)  # of the last block that trains
    assert names["fate"].settles
    assert names["far"].residual < 1e-8
    assert (names["curves"][0].norms[0, 1:] >= [1e2, 1e4]).all()


def test_the_example_pack_holds_with_its_siblings_refuted(tmp_path, capsys):
    pack = str(ROOT / "examples/my_claim.py")
    ledger = str(tmp_path / "ledger.jsonl")
    code = main(["verify", "--pack", pack, "mine", "--ledger", ledger, "--json", "-"])
    (entry,) = json.loads(capsys.readouterr().out)["claims"]
    assert code == 0
    assert entry["truth"] == "holds"
    assert [s["refuted"] for s in entry["siblings"]] == [True, True]


@pytest.mark.parametrize(("name", "code"), [("one_input", 0), ("gaussian", 0), ("opposed", 1)])
def test_the_script_makes_data_that_solve_reads(tmp_path, name, code, capsys):
    script = str(ROOT / "examples/make_data.py")
    subprocess.run([sys.executable, script, str(tmp_path)], check=True)
    assert main(["solve", str(tmp_path / f"{name}.npz"), "--json", "-"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == ("solved" if code == 0 else "unseparable")
    assert answer["certificate"]["kind"] == "exact"


def test_the_solution_that_the_readme_prints_is_the_exact_one(tmp_path):
    subprocess.run([sys.executable, str(ROOT / "examples/make_data.py"), str(tmp_path)], check=True)
    value = att_svm(AttentionData.load(tmp_path / "one_input.npz")).value
    # token 0 = (-0.1, 1) against (0, 0), z = (1, 0): the norm is 1/|(-0.1, 1)|
    assert abs(value - 1 / np.hypot(0.1, 1.0)) <= 1e-15
    assert f"{value:.12g}" in README

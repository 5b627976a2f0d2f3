"""The README's examples are the files that it speaks of, and they run."""

import ast
import importlib.util
import json
import math
import re
import runpy
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat

from attsvm import AttentionData, att_svm
from attsvm.cli import main
from attsvm.theory import load_packs
from attsvm.theory.arithmetic import BALLS, entries
from attsvm.theory.declaration.judge import decided
from attsvm.theory.packs.questions import questions_in
from attsvm.theory.report.answer import answered
from attsvm.theory.search.hunt import hunt
from tests.forks import in_a_fork

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def test_the_first_claim_of_the_readme_falls_as_shown(tmp_path, capsys):
    (tmp_path / "thirds.py").write_text(BLOCKS[0])
    words = ["--only-pack", str(tmp_path / "thirds.py"), "--ledger", str(tmp_path / "l.jsonl")]
    assert main(["verify", *words]) == 1
    (shown,) = re.findall(r"```\n(mine/.*?)```", README, re.S)
    assert shown in capsys.readouterr().out


def test_the_claim_that_holds_is_the_one_in_the_example():
    holds = BLOCKS[0].replace("# thirds.py\n", "").replace("||/3", "||/2").replace(" / 3)", " / 2)")
    assert holds in (ROOT / "examples/my_claim.py").read_text(encoding="utf-8")


def test_the_python_in_the_readme_runs(capsys):
    names: dict = {}
    for block in BLOCKS[1:]:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "[[ 0.25  0.25]\n [-0.25 -0.25]]" in printed  # A = (1, -1) (1, 1)^T has norm 2
    assert "solved, certified" in printed
    assert len(re.findall("^direction +cosine", printed, re.M)) == 2  # one line a head


def test_the_table_and_the_picture_of_the_readme_are_those_of_the_example(
    tmp_path, monkeypatch, capsys
):
    picture = tmp_path / "picture.svg"
    monkeypatch.setattr(sys, "argv", ["theorem_that_falls.py", str(picture)])
    names = runpy.run_path(str(ROOT / "examples/theorem_that_falls.py"))
    data, run, margins = names["data"], names["run"], names["margins"]
    assert re.findall(r"^\| (\d) \| (.*) \|$", README, re.M) == [
        (str(i + 1), " | ".join(cells))
        for i, cells in enumerate(
            [
                ", ".join(f"({a:g}, {b:g})" for a, b in data.X[i]),
                f"({data.Z[i, 0]:g}, {data.Z[i, 1]:g})",
                f"{data.gamma[i, 0]:g}, {data.gamma[i, 1]:g}",
                f"{margins(att_svm(data).W)[i]:+.2f}",
                f"{margins(run.W[0, -1])[i]:+.2f}",
            ]
            for i in range(2)
        )
    ]
    assert data.gamma.argmax(axis=1).tolist() == [0, 0]
    assert run.steps[-1] == 100_000
    assert margins(names["far"].W[0, -1])[1] < -1e4
    assert "100,000 steps margins [ 11.13 -14.24]\n" in capsys.readouterr().out
    assert "steps of descent" in picture.read_text(encoding="utf-8")


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
    assert "W of head.npz\nAtt-SVM " in printed
    assert 0.0 < names["head"].compare().cosine < 1.0


SMALLER = {
    "for _ in range(100)": "for _ in range(4)",
    "size=(6, 8, 10)": "size=(3, 4, 10)",
    "size=(6, 10)": "size=(3, 10)",
    "[-1.0, 1.0], 6": "[-1.0, 1.0], 3",
}
"""Data sets of the page on training, fewer and smaller: paths over their balls take seconds."""


def test_the_page_on_training_runs():
    page = (ROOT / "docs/training.md").read_text(encoding="utf-8")
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    for said, fewer in SMALLER.items():
        assert said in blocks[0]
        blocks[0] = blocks[0].replace(said, fewer)
    for block in blocks:
        exec(compile(block, "docs/training.md", "exec"), names)
    assert names["run"].W.shape == (1, 3, 2, 2)  # of the last block that trains
    assert names["certificate"].settles
    assert names["far"].residual < 1e-8
    assert (names["curves"][0].norms[0, 1:] >= [1e2, 1e4]).all()


@pytest.mark.usefixtures("brief")
def test_the_page_on_hunting_runs(capsys):
    page = (ROOT / "docs/hunting.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(compile(block, "docs/hunting.md", "exec"), {})
    (said,) = re.findall(r"# (refuted, .*)", block)
    assert capsys.readouterr().out.startswith(said)


def test_the_commands_in_the_page_on_the_gate_end_as_it_says(here, monkeypatch, capsys):
    page = (ROOT / "docs/gate.md").read_text(encoding="utf-8")
    commands = re.findall(r"^attsvm (.*?) +# ", page, re.M)
    assert len(commands) == 4
    assert [main(command.split()) for command in commands] == [0, 0, 0, 1]
    assert "not reviewed yet" in capsys.readouterr().out
    reviewed = here / "expectations.json"
    reviewed.write_text(reviewed.read_text().replace("not reviewed yet", "x^2 + y^2 >= 2 x y"))
    assert main(commands[3].split()) == 0
    claim = here / "lemma_1.py"
    text = claim.read_text()
    assert '{"factor": 2}' in text
    claim.write_text(text.replace('{"factor": 2}', '{"factor": 1 + 2}'))
    for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", "") == str(claim)]:
        monkeypatch.delitem(sys.modules, name)
    for command in commands[1::2]:  # in processes of their own, which load the claim anew
        ended = in_a_fork(*command.split())
        assert ended.returncode == 1
    assert "my/lemma-1:literal: holds -> refuted by x = 1, y = 1" in ended.stdout


PACKS = {
    "my_claim": ("mine/", 1, 0),
    "attention_lipschitz": ("attention/", 3, 1),
    "gradient_descent": ("descent/", 3, 1),
    "psd_matrices": ("psd/", 5, 2),
}
"""What the ids of each pack begin with, how many claims it has, and how many are false."""


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", PACKS)
def test_the_example_packs_have_the_verdicts_that_they_expect(name, tmp_path, capsys):
    """Already with few of the instances: a whole check looks at these and at more."""
    prefix, number, false = PACKS[name]
    pack = str(ROOT / f"examples/{name}.py")
    ledger = str(tmp_path / "ledger.jsonl")
    code = main(["verify", "--pack", pack, prefix, "--ledger", ledger, "--json", "-"])
    entries = json.loads(capsys.readouterr().out)["claims"]
    assert code == 0
    assert [e["as_expected"] for e in entries] == [True] * number
    assert [e["truth"] for e in entries].count("refuted") == false
    for entry in entries:
        assert entry["siblings"]
        assert all(s["refuted"] and s["evidence"] == "certified" for s in entry["siblings"])
        assert not entry["undecided"]


VERDICTS = {
    "mine/shadow": {"amended": ("holds", 3), "literal": ("refuted", 1)},
    "mine/mean-inequality": {"literal": ("holds", 3)},
}


@pytest.mark.parametrize("id", VERDICTS)
def test_the_statements_in_the_page_on_claims_have_their_verdicts(id, tmp_path, capsys):
    page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", page, re.S) if f'"{id}"' in b)
    (tmp_path / "page.py").write_text(block)
    words = ["--pack", str(tmp_path / "page.py"), id]
    ledger = str(tmp_path / "ledger.jsonl")
    assert main(["verify", *words, "--ledger", ledger, "--json", "-"]) == 0
    for entry in json.loads(capsys.readouterr().out)["claims"]:
        truth, siblings = VERDICTS[id][entry["id"].rpartition(":")[2]]
        assert entry["truth"] == truth
        assert [s["refuted"] for s in entry["siblings"]] == [True] * siblings


def test_the_proof_in_the_page_on_claims_runs():
    page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", page, re.S) if "prove" in b)
    names: dict = {}
    exec(compile(block, "docs/claims.md", "exec"), names)
    assert names["prove"]() == "x^2 - 2 x + 1 >= 0 for real x"


@pytest.mark.parametrize("name", PACKS)
def test_an_example_pack_is_short_and_needs_attsvm_alone(name):
    text = (ROOT / f"examples/{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    tree = ast.parse(text)
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not any(isinstance(n, ast.Import) for n in ast.walk(tree))
    assert imported <= {"attsvm", "attsvm.theory", "attsvm.theory.types", "fractions", "typing"}
    numbers = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    assert not any(isinstance(value, float) for value in numbers)


def test_the_functions_of_the_descent_have_the_slope_that_descends():
    """In rationals, by the trapezium rule, as the slope is linear where nothing breaks."""
    spec = importlib.util.spec_from_file_location("descent", ROOT / "examples/gradient_descent.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generator = np.random.default_rng(0)
    for _ in range(50):
        start, *sizes = [fmpq(int(k), 100) for k in generator.integers(-300, 300, 7)]
        v = SimpleNamespace(start=start, gaps=sizes[:3], rates=sizes[3:], L=fmpq(2), N=1)
        x = fmpq(int(generator.integers(-5000, 5000)), 1000) + fmpq(1, 10**4)
        y = x + fmpq(1, 10**5)
        slopes = [2 * (z - module.descended(BALLS, z, v, 1)) for z in (x, y)]
        rise = module.f(BALLS, y, v) - module.f(BALLS, x, v)
        assert rise == (y - x) * sum(slopes) / 2
        assert module.f(BALLS, fmpq(0), v) == 0 <= module.f(BALLS, x, v)
        assert 0 <= slopes[1] - slopes[0] <= 2 * (y - x)


def test_descent_attains_its_rate_where_the_parabola_ends_in_time():
    for N in range(1, 6):  # a start of 2 N + 1 on the function that is straight beyond 1
        claim = load_packs([str(ROOT / "examples/gradient_descent.py")])[-1].claims[-1]
        assert claim.id == "descent/rate:sharp"
        slope = {"start": -1.0, "gaps": [2.0], "rates": [1.0]}
        slack = claim.conclusion(claim.formula.build(**slope, L=1, x=2 * N + 1, N=N))
        assert (slack.value, slack.ratio) == (0.0, 1.0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the data that the script makes."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, str(ROOT / "examples/make_data.py"), str(folder)], check=True)
    return folder


@pytest.mark.parametrize(("name", "code"), [("one_input", 0), ("gaussian", 0), ("opposed", 1)])
def test_the_script_makes_data_that_solve_reads(made, name, code, capsys):
    assert main(["solve", str(made / f"{name}.npz"), "--json", "-"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == ("solved" if code == 0 else "unseparable")
    assert answer["certificate"]["kind"] == "exact"


def test_the_solution_that_the_page_on_the_svm_prints_is_the_exact_one(made):
    value = att_svm(AttentionData.load(made / "one_input.npz")).value
    # token 0 = (-0.1, 1) against (0, 0), z = (1, 0): the norm is 1/|(-0.1, 1)|
    assert abs(value - 1 / np.hypot(0.1, 1.0)) <= 1e-15
    assert f"{value:.12g}" in (ROOT / "docs/svm.md").read_text(encoding="utf-8")


def published():
    return runpy.run_path(str(ROOT / "examples/published_conjecture.py"))


@pytest.mark.parametrize("q", [Fraction(1, 7), Fraction(9, 10), Fraction(2), Fraction(30)])
@pytest.mark.parametrize("n", [3, 4, 9])
def test_the_published_conjecture_fails_for_all_sizes_and_parameters(q, n):
    names, t = published(), Fraction(1, 10_000)
    A, C = names["family"](n, q, t)
    assert sum(A[i][i] for i in range(n)) == 0
    leading = t**2 * q**2 * (n - 2) / (q**2 + 1)
    assert 0.99 * leading < names["excess"](A, C, q) < leading


def test_the_published_conjecture_fails_by_a_polynomial_in_the_parameter():
    n, q, t = sympy.symbols("n q t")
    x = -(n * q**2 - q**2 + 1) / ((q - 1) * (q**2 + 1))
    y = (n * q + (q - 1) ** 2) / ((q - 1) * (q**2 + 1))
    c, B = sympy.Matrix([t, 1]), sympy.Matrix([[t * x, 1], [0, t * y]])
    square = sum(entry**2 for entry in B) + t**2 * (x + y) ** 2 / (n - 2)
    left = (B * c).dot(B * c) + q**2 * c.dot(c) * B.row(0).dot(B.row(0))
    left -= 2 * q * c.dot(B * c) * B[0, 0]
    excess = sympy.together(left - (1 + q**2) * square * c.dot(c))
    numerator, denominator = excess.as_numer_denom()
    assert not denominator.has(t)
    of_t = sympy.Poly(numerator, t)
    assert {power for (power,) in of_t.monoms()} == {2, 4}
    leading = sympy.cancel(of_t.coeff_monomial(t**2) / denominator)
    assert sympy.simplify(leading - q**2 * (n - 2) / (q**2 + 1)) == 0


def test_the_published_conjecture_fails_on_the_instance_of_its_page():
    names = published()
    A, C = names["completed"](3, [[4, 2], [-5, -3]], [[-1, 0], [-3, 3]])
    assert names["excess"](A, C, Fraction(3)) == 10469 - 10450


def excess_over_the_bound(names, n, A, C, q):
    """Return the ratio of both sides of the conjecture, minus 1."""
    A, C = names["completed"](n, A, C)
    assert sum(A[i][i] for i in range(n)) == 0
    squares = [sum(x * x for row in rows for x in row) for rows in (A, C)]
    return names["excess"](A, C, q) / ((1 + q * q) * squares[0] * squares[1])


@pytest.mark.parametrize(("n", "ratio"), [(3, 1.00710), (4, 1.01143), (5, 1.01475)])
def test_the_published_conjecture_fails_by_the_ratios_of_its_page(n, ratio):
    names = published()
    found = 1 + excess_over_the_bound(names, n, *names["INSTANCES"][n])
    assert ratio < found < ratio + 1e-5


def test_the_published_conjecture_fails_by_more_in_large_sizes_but_not_by_much():
    A, C, q = [[4, 6], [0, -1]], [[2, -3], [2, -4]], Fraction(2, 7)
    names = published()
    ratios = [1 + excess_over_the_bound(names, n, A, C, q) for n in (3, 8, 20)]
    limit = 1 + names["excess"](A, C, q) / ((1 + q * q) * 53 * 33)
    assert ratios[0] < 1 < ratios[1] < ratios[2] < limit
    bound = (1 + (math.sqrt(2) - 1) * q) ** 2 / (1 + q * q)
    assert 1.0336 < limit < 1.0337 < bound < 1.172


@pytest.mark.usefixtures("brief")
def test_a_search_finds_an_instance_of_the_published_conjecture():
    names = published()
    answer = answered(names["CONJECTURE"], 300.0)
    assert answer.refuted
    letters = {name: eval(text, {}, {}) for name, text in answer.instance.items()}
    n = letters["n"]
    A, C = ([[Fraction(x) for x in row] for row in letters[name]] for name in "AC")
    trace = sum(A[i][i] for i in range(n)) / n
    A = [[x - trace * (i == j) for j, x in enumerate(row)] for i, row in enumerate(A)]
    assert names["excess"](A, C, Fraction(letters["q"])) > 0


def test_the_conjecture_on_determinants_fails_by_a_factor():
    names = runpy.run_path(str(ROOT / "examples/determinant_conjecture.py"))
    small = names["scaled"](fmpq(1, 8))
    assert fmpq(69, 100) < names["ratio"](*small, 5, 4) < fmpq(7, 10)
    assert fmpq(19, 100) < names["ratio"](*small, 8, 4) < fmpq(1, 5)
    published = (
        [[421, -168, 25], [-168, 153, -51], [25, -51, 43]],
        [
            [0, 13, 3],
            [13, -10, -1],
            [3, -1, -2],
        ],
    )
    found = names["ratio"](*published, 6, 4)
    assert fmpq(992, 1000) < found < fmpq(993, 1000)


@pytest.mark.parametrize(
    ("k", "p", "least"), [(3, 10, 382), (4, 6, 601), (4, 8, 66), (6, 4, 961), (7, 4, 641)]
)
def test_the_conjecture_on_determinants_fails_for_other_exponents(k, p, least):
    names = runpy.run_path(str(ROOT / "examples/determinant_conjecture.py"))
    A, B = names["rational"](k, p)
    minors = [fmpq_mat([row[:n] for row in A[:n]]).det() for n in (1, 2, 3)]
    assert min(minors) > 0
    assert [*zip(*A, strict=True), *zip(*B, strict=True)] == [tuple(row) for row in (*A, *B)]
    assert fmpq_mat(B).det() != 0
    found = names["ratio"](A, B, k, p // 2)
    assert fmpq(least, 1000) < found < fmpq(least + 1, 1000)
    A, B = ([[*row, fmpq(0)] for row in X] + [[fmpq(0)] * 3 + [fmpq(1)]] for X in (A, B))
    assert names["ratio"](A, B, k, p // 2) == found


def test_the_conjecture_on_determinants_is_asked_as_it_is_stated():
    names = runpy.run_path(str(ROOT / "examples/determinant_conjecture.py"))
    formula = names["CONJECTURE"].claim.formula
    A, B = names["scaled"](fmpq(1, 8))
    values = SimpleNamespace(A=entries(A), B=entries(B), k=8, q=4)
    relation = names["conjectured"](BALLS, values)
    assert relation.right / relation.left == names["ratio"](A, B, 8, 4)
    assert all(
        decided(one.holds(BALLS, values))
        for one in formula.hypotheses.values()
        if "det" in one.name
    )


def gaussian():
    return runpy.run_path(str(ROOT / "examples/gaussian_attention.py"))


def attention(U, a, mixed):
    """Return the softmax of each column of a U^T U, or U times it, for one row U."""
    weights = np.exp(a * np.outer(U, U))
    weights /= weights.sum(axis=0)
    return U @ weights if mixed else weights


@pytest.mark.parametrize("mixed", [False, True])
def test_the_expectation_over_gaussian_matrices_is_that_of_the_softmax(mixed):
    U, V = np.array([1.0, -1, -1, -1, -1]), np.array([0.25, -1, -1, -1, -1])
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    squares = [np.sum((attention(U, a, mixed) - attention(V, a, mixed)) ** 2) for a in nodes]
    mean = weights @ squares / np.sqrt(2 * np.pi)
    ball = gaussian()["ratio"](5, fmpq(3, 4), mixed=mixed)
    assert abs(float(ball.mid()) - mean / 0.75**2) < 1e-9
    assert ball.rad() < 1e-9


def test_attention_with_a_gaussian_matrix_is_no_contraction_on_average():
    ratio, d = gaussian()["ratio"], fmpq(1, 100)
    page = (ROOT / "docs/proofs/gaussian_attention.md").read_text(encoding="utf-8")
    lengths, ratios = re.findall(r"\| (?:\$K\$|ratio) \| (10 .*|0.347 .*) \|", page)
    shown = dict(zip(map(int, lengths.split(" | ")), map(float, ratios.split(" | ")), strict=True))
    assert len(shown) == 9
    assert all(abs(ratio(K, d) - value) < 0.0006 for K, value in shown.items())
    assert ratio(51, d) < 1 < ratio(52, d)
    assert ratio(2, d, mixed=True) > 1.33


def test_attention_with_a_gaussian_matrix_is_a_contraction_from_dimension_four_on():
    bound = gaussian()["bound"]
    assert bound(5) < bound(4) < 1
    assert 1.63 < bound(3) < 1.64
    assert 3.71 < bound(2) < 3.73


@pytest.mark.parametrize("r", [1, 2, 4])
def test_the_steps_of_the_bound_on_gaussian_attention_hold_on_draws(r):
    draws, K = np.random.default_rng(r), 6
    U, D = draws.normal(size=(2, r, K))
    U /= np.linalg.norm(U, axis=0)
    A = draws.normal(size=(4000, r, r)) / np.sqrt(r)
    P = np.exp(U.T @ A @ U)
    P /= P.sum(axis=1, keepdims=True)
    v = D.T @ A @ U + U.T @ A @ D
    changes = P * (v - np.sum(P * v, axis=1, keepdims=True))
    mean = U.mean(axis=1, keepdims=True)
    assert np.all(np.sum(changes**2, axis=1) <= np.sum(P * v**2, axis=1) / 2 + 1e-12)
    assert np.all(np.exp((U - mean).T @ A @ U) / K - P >= -1e-12)
    found = np.mean(np.sum(changes**2, axis=(1, 2))) / np.sum(D**2)
    assert found < min(float(gaussian()["bound"](r)), K / r)


QUESTIONS = {
    f"{name}: {question}": one
    for name in ("matrices", "numbers")
    for question, one in questions_in(str(ROOT / f"examples/questions/{name}.py")).items()
}


def test_the_public_questions_are_thirty_one():
    counts = Counter(one.expected for one in QUESTIONS.values())
    assert counts == {"refuted": 14, "holds": 16, "open": 1}


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", [n for n, one in QUESTIONS.items() if one.expected == "refuted"])
def test_a_false_public_question_falls(name):
    quick = ["drawn", "screen"]
    searchers = ["integers"] if not QUESTIONS[name].claim.formula.continuous else quick
    assert hunt(QUESTIONS[name].claim, rounds=3, searchers=searchers).smallest is not None


@pytest.mark.parametrize("name", [n for n, one in QUESTIONS.items() if one.expected == "holds"])
def test_a_true_public_question_is_not_refuted_by_a_short_search(name):
    """A short search is no proof, but a false alarm would show."""
    found = hunt(QUESTIONS[name].claim, rounds=1, searchers=["drawn"])
    assert (found.smallest, found.seen.undecided, found.error) == (None, 0, None)
    assert found.examples > 10

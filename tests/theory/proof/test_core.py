"""The core of linked proofs: its size, and that it uses no other code that it has to trust."""

import ast
import io
import tokenize
from pathlib import Path

from attsvm.theory import proof

FOLDER = Path(next(iter(proof.__path__)))
CORE = ("terms", "facts", "certificates", "rules", "lemmas")
"""Modules that a false "proved" would have to get past; a person can read them in two hours."""
UNTRUSTED = {"attsvm.errors", "attsvm.theory.proof.printing", "attsvm.theory.proof.search"}
"""What the core uses without trust: messages, text, and proposals that it checks."""
LARGEST = 1000
"""Maximum number of lines of code of the core."""
_IGNORED = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
)


def lines_of_code(source):
    """The number of lines with code: not blank, no comment, no docstring and no import."""
    left_out = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for line in range(node.lineno, node.end_lineno + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = (t for t in tokens if t.type not in _IGNORED)
    return len({x for t in code for x in range(t.start[0], t.end[0] + 1)} - left_out)


def test_lines_of_code_are_counted():
    assert lines_of_code('"""Doc."""\nimport os\n\nx = (\n    1,  # one\n)\n# end\n') == 3


def test_the_core_can_be_read_in_two_hours():
    sizes = {name: lines_of_code((FOLDER / f"{name}.py").read_text("utf-8")) for name in CORE}
    assert sum(sizes.values()) <= LARGEST, sizes


def test_the_core_uses_only_itself_and_what_it_checks():
    allowed = UNTRUSTED | {f"attsvm.theory.proof.{name}" for name in CORE}
    for name in CORE:
        tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        own = {module for module in imported if module.split(".")[0] == "attsvm"}
        assert own <= allowed, name


def test_every_lemma_stands_in_the_core():
    root = FOLDER.parents[2]
    paths = [
        p for room in ("attsvm", "properties", "symbolic") for p in (root / room).rglob("*.py")
    ]
    used = {"lemma", "Lemma", "Instance"}
    found = set()
    for path in paths:
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "lemmas import" in text else ():
            if isinstance(node, ast.ImportFrom) and node.module == "attsvm.theory.proof.lemmas":
                found |= {path.relative_to(root).as_posix() for x in node.names if x.name in used}
    assert found == {"attsvm/theory/proof/rules.py"}

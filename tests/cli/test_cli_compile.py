"""`attsvm compile` leaves nothing to compile."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import attsvm

PACKAGE = Path(attsvm.__file__).parent
ENTRIES = """
import importlib, json
from attsvm.cli.compile import call_all
from attsvm.kernels import _Kernel

call_all()
used = {used}
kernels = {{name: getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
           for name in used}}
print(json.dumps([n for n, k in kernels.items() if isinstance(k, _Kernel) and k._entry is None]))
"""


def called_from_python():
    """Yield the names of attsvm.kernels that other modules import or take from its modules."""
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name == "kernels":
            continue
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        modules = {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "attsvm.kernels":
                modules |= {a.asname or a.name: a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and "attsvm.kernels." in (node.module or ""):
                yield from (f"{node.module}.{a.name}" for a in node.names)
        for node in nodes:
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in modules:
                yield f"attsvm.kernels.{modules[node.value.id]}.{node.attr}"


def test_it_calls_each_kernel_that_other_modules_use_and_leaves_none_to_compile(attsvm):
    used = sorted({*called_from_python()})
    assert len(used) > 15
    done = subprocess.run(
        [sys.executable, "-c", ENTRIES.format(used=used)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert attsvm("compile")[:2] == (0, "All kernels were compiled before.\n")

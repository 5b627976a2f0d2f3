"""Commands of benchmarks that documents name exist, and their tables do."""

import importlib.util
import re
from pathlib import Path

import pytest

from benchmarks.timers.__main__ import TABLES

ROOT = Path(__file__).resolve().parents[2]
FILES = [*ROOT.rglob("docs/**/*.md"), *ROOT.glob("*.md"), ROOT / ".ci/run"]
NAMED = {
    (match[1], match[2].strip())
    for file in FILES
    if file.name != "CHANGELOG.md"
    for match in re.finditer(r"python\s-m\s(benchmarks\.\w+)([a-z \n-]*)", file.read_text())
}


@pytest.mark.parametrize(("module", "words"), sorted(NAMED))
def test_a_command_that_a_document_names_exists(module, words):
    assert importlib.util.find_spec(module) is not None
    if module == "benchmarks.timers":
        named = [word for word in words.partition(" --")[0].split() if word != "--write"]
        assert set(named) <= set(TABLES)

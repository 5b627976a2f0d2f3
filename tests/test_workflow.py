"""What continuous integration runs is there: every command of the workflow and of `.ci/run`."""

import functools
import importlib.metadata
import importlib.util
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest
import yaml
from hypothesis import settings

from attsvm.cli import parser_of
from attsvm.errors import UsageError
from tests.forks import in_a_fork

ROOT = Path(__file__).parents[1]
JOBS = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = (ROOT / "constraints.txt").read_text()
ROOMS = ("attsvm", "properties", "symbolic", "tests")
CHECK = (ROOT / ".ci/run").read_text()
ACTIONS = {
    "actions/checkout@v4",
    "actions/setup-python@v5",
    "actions/cache/restore@v4",
    "actions/cache/save@v4",
}


def steps():
    """Every step of every job as its job and what it runs, each value of a matrix put in."""
    for name, job in JOBS.items():
        matrix = job.get("strategy", {}).get("matrix", {})
        nightly = matrix.get("command", [""])
        for step in job["steps"]:
            if "uses" in step:
                assert step["uses"] in ACTIONS
                continue
            run = step["run"].replace("${{ github.run_number }}", "7")
            # the one expression that is left stands before a command
            run = re.sub(r"^\$\{\{ contains.*?\}\}\s*", "", run)
            for command in nightly if "matrix.command" in run else [""]:
                yield name, run.replace("${{ matrix.command }}", command)


def commands():
    """What is run, a list of words each, without repetitions."""
    found = [line for _, run in steps() for line in run.splitlines()]
    bare = [line.strip().removeprefix("nice ") for line in CHECK.splitlines()]
    listed = [line.partition(" & ")[0].partition(" > ")[0] for line in bare]
    found += [line for line in listed if line.startswith(("pip", "ruff", "mypy", "sphinx", "att"))]
    found += [line for line in listed if line.startswith(("pytest", "python -m "))]
    return sorted({tuple(shlex.split(line)) for line in found})


def test_every_supported_version_is_tested_with_the_newest_and_lowest_dependencies():
    matrix = JOBS["versions"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    assert matrix["resolution"] == ["highest"]
    assert matrix["include"] == [{"python": "3.11", "resolution": "lowest-direct"}]
    runs = [run for job, run in steps() if job == "versions"]
    assert any("--resolution ${{ matrix.resolution }}" in run for run in runs)
    ran = {tuple(shlex.split(run)) for run in runs}
    assert {("attsvm", "verify", "-n", "2"), ("attsvm", "gate"), ("pytest", "-n", "auto")} <= ran


def test_what_is_checked_is_what_the_readme_says():
    assert ("check", "bash .ci/run") in list(steps())
    readme = (ROOT / "README.md").read_text()
    for command in ("attsvm verify -n 2", "pytest -n auto"):
        assert command in readme
        assert re.search(rf"^{command}", CHECK, re.M)
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    for command in ("ruff check .", "ruff format --check .", "mypy"):
        assert command in contributing
        assert re.search(rf"^{re.escape(command)}( & \w+=\$!|$)", CHECK, re.M)


STUB = """#!/bin/sh
# a command of the check that does nothing, and fails if it is the one that shall
case "${0##*/} $*" in
  "$RED"*) exit 1 ;;
  "python3 -m venv "*) mkdir -p "$3/bin" ;;
esac
"""
STEPS = {
    **dict.fromkeys(["python3 -m venv", "pip install", "ruff check", "ruff format"], 1),
    **dict.fromkeys(["sphinx-build", "mypy", "attsvm verify", "pytest", "attsvm gate"], 1),
    **dict.fromkeys(["attsvm kernel", "python -m benchmarks.machines"], 1),
    "nothing": 0,
}


@pytest.mark.parametrize("red", STEPS)
def test_the_check_is_red_if_a_step_is_also_one_that_runs_beside_others(red, tmp_path):
    for name in {*(step.split()[0] for step in STEPS), "coqc"}:
        (tmp_path / name).write_text(STUB)
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", str(ROOT / ".ci/run")], env={**os.environ, "PATH": path, "RED": red}, check=False
    )
    assert done.returncode == STEPS[red]


def test_every_command_is_there_and_takes_its_words():
    unknown = [words for words in commands() if not known(words)]
    assert unknown == []
    assert len(commands()) > 20


def known(words):
    """Whether a command of the workflow is one of this project, and takes its words."""
    match words:
        case ("bash", ".ci/run"):
            return (ROOT / ".ci/run").is_file()
        case ("pip", "install", *rest) | ("uv", "pip", "install", *rest):
            return rest == ["uv"] or installs(rest)
        case ("attsvm", *rest) | ("python", "-m", "attsvm", *rest):
            return bool(parser_of(rest[0]).parse_args(rest))
        case ("python", "-m", module, *rest) if module.startswith("benchmarks."):
            return takes(module, rest)
        case ("pytest", "-n", "auto", *rest):
            named = [word for word in rest if not word.startswith("--ledger=")]
            profiles = [word.removeprefix("--hypothesis-profile=") for word in named]
            return importlib.util.find_spec("xdist") and all(map(settings.get_profile, profiles))
        case ("ruff", "check" | "format", *_) | ("mypy",) | ("sphinx-build", *_):
            return any(need.startswith(words[0][:4]) for need in extra("dev"))
        case ("test", "-f", "night.json", *_):
            return True
    return False


def installs(words):
    """Whether the project is installed with extras that there are, and constraints if any."""
    (target,) = [word for word in words if word.startswith(".")]
    extras = re.fullmatch(r"\.\[([\w,]+)\]", target)
    if "-c" in words and words[words.index("-c") + 1] != "constraints.txt":
        return False
    return "-e" in words and extras is not None and all(map(extra, extras[1].split(",")))


def extra(name):
    """What an extra needs, those of the project's own extras that it names included."""
    needs = PROJECT["optional-dependencies"][name]
    named = re.findall(r"attsvm\[([\w,]+)\]", " ".join(needs))
    return needs + [need for names in named for n in names.split(",") for need in extra(n)]


HELP = {}


def started(module):
    """Run a module as `python -m` does; its exit code."""
    try:  # Python warns where the module was imported before, as it may have been here
        warnings.simplefilter("ignore", RuntimeWarning)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        return left.code or 0
    return 0


def takes(module, words):
    """Whether a benchmark is there and its help names every option that it is given."""
    if importlib.util.find_spec(module) is None:
        return False
    if module not in HELP:
        done = in_a_fork("--help", run=functools.partial(started, module))
        assert done.returncode == 0 or module.startswith("benchmarks.page")  # `browser`
        HELP[module] = done.stdout
    options = [word for word in words if word.startswith("-")]
    return all(re.search(rf"(?<![\w-]){word}\b", HELP[module]) for word in options)


def test_a_command_that_is_not_there_is_noticed():
    for line in (
        "python -m benchmarks.nothing",
        "python -m benchmarks.kills --disk-space",
        "pip install -c constraints.txt -e '.'",
        "pip install -c other.txt -e '.[test]'",
        "attsvm-verify",
    ):
        assert not known(tuple(shlex.split(line))), line
    with pytest.raises(KeyError):
        known(("pip", "install", "-e", ".[tests]"))
    with pytest.raises(UsageError):
        known(("attsvm", "verify", "--profile", "ci"))


def test_what_the_tests_import_is_what_their_extra_installs():
    """Also where nothing else that is installed happens to need it."""
    files = [ROOT / "conftest.py", *(f for r in ROOMS for f in (ROOT / r).rglob("*.py"))]
    said = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)  # in texts as well, which may do
    modules = {name for file in files for name in said.findall(file.read_text())}
    modules -= sys.stdlib_module_names
    homes = importlib.metadata.packages_distributions()
    needed = {re.split(r"[\[<>=]", n)[0].lower() for n in extra("test") + PROJECT["dependencies"]}
    needed |= {"mpmath", "markupsafe"}  # parts of sympy and Jinja2
    foreign = {module: homes[module] for module in modules if module in homes}
    assert {"flint", "torch", "yaml"} <= set(foreign)
    assert {m: who for m, who in foreign.items() if not {w.lower() for w in who} & needed} == {}


@pytest.mark.parametrize("name", ["browser", "dev"])
def test_what_is_installed_by_constraints_is_pinned(name):
    needs = [need for need in extra(name) + PROJECT["dependencies"] if "attsvm[" not in need]
    pinned = re.findall(r"^([\w.-]+)==", PINNED.lower().replace("_", "-"), re.M)
    assert [n for n in needs if re.split(r"[\[<>=]", n)[0].lower() not in pinned] == []

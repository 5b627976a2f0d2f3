"""The pytest plug-in: every curated counterexample, every claim and every sibling is an item.

Counterexamples are replayed before everything else, and the summary ends with the verdicts. With
`--ledger=FILE`, claims that were checked with all their siblings are recorded there, for `attsvm
gate`. Load it with `pytest_plugins = ["attsvm.theory.plugin"]` in the root conftest.py.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attsvm._words import counted
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.checkout import code_of
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import Replay
from attsvm.theory.record.curated import replay_curated, summary
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.report.terminal import table_text
from attsvm.theory.run.sampling import PROFILES, profile_named
from attsvm.theory.verification.check import Outcome, check_part
from attsvm.theory.verification.verdicts import Checked, Report, assess, concluded
from attsvm.theory.verification.verify import (
    Earlier,
    bases_of,
    ensure_same_code,
    evaluated,
    head_of,
    record,
    reused,
)

_KEY = "attsvm"
_REPLAY = "attsvm-replay"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --profile, --claim-seed, --ledger and the ini option attsvm_packs."""
    group = parser.getgroup("attsvm", "executable theory")
    group.addoption("--profile", default="quick", choices=list(PROFILES), help="how many instances")
    group.addoption("--claim-seed", default=0, type=int, help="base seed of all instances")
    group.addoption("--ledger", metavar="FILE", help="record the claims there for `attsvm gate`")
    group.addoption(
        "--reuse",
        action="store_true",
        help="reuse outcomes of a complete run in --ledger for claims with unchanged code",
    )
    parser.addini("attsvm_packs", "claim packs in addition to the installed ones", type="linelist")


def _named(config: pytest.Config) -> list[str]:
    """Return the packs of the ini file; paths are relative to the root of the tests."""
    words = config.getini("attsvm_packs")
    return [str(config.rootpath / word) if word.endswith(".py") else word for word in words]


class _Loaded:
    """The packs, with their claims and curated counterexamples by file."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            self.packs = load_packs(_named(config))
        except AttsvmError as error:
            raise pytest.UsageError(str(error)) from error
        self.claims: dict[Path, list[Claim]] = {}
        for claim in (c for pack in self.packs for c in pack.claims):
            self.claims.setdefault(Path(claim.file).resolve(), []).append(claim)
        packs = reversed(self.packs)
        self.curated = {f.resolve(): p for p in packs for f in p.counterexamples}


_LOADED: pytest.StashKey[_Loaded] = pytest.StashKey()
_EARLIER: pytest.StashKey[dict[str, Earlier]] = pytest.StashKey()
_LEDGER: pytest.StashKey[Ledger] = pytest.StashKey()
_CODE: pytest.StashKey[Mapping[str, str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Open the ledger, and record the digests of the code at the start; workers write nothing.

    Raises:
        pytest.UsageError: the ledger cannot be opened.
    """
    path = config.getoption("--ledger")
    if path is None or hasattr(config, "workerinput") or config.getoption("collectonly"):
        return
    try:
        config.stash[_LEDGER] = Ledger(path)
    except AttsvmError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[_CODE] = code_of(_loaded(config).packs, config.stash[_LEDGER].path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the ledger."""
    if _LEDGER in config.stash:
        config.stash[_LEDGER].close()


def _loaded(config: pytest.Config) -> _Loaded:
    if _LOADED not in config.stash:
        config.stash[_LOADED] = _Loaded(config)
    return config.stash[_LOADED]


def _earlier(config: pytest.Config) -> dict[str, Earlier]:
    """Return the outcomes of earlier runs of the ledger for claims with unchanged code."""
    path = config.getoption("--ledger")
    if not config.getoption("--reuse") or path is None:
        return {}
    if _EARLIER not in config.stash:
        packs = _loaded(config).packs
        claims = [c for pack in packs for c in pack.claims]
        code = config.stash[_CODE] if _CODE in config.stash else code_of(packs, Path(path))
        profile, seed = config.getoption("--profile"), config.getoption("--claim-seed")
        result = evaluated(path, profile, seed, bases_of(packs, claims, code))
        whole = {c.id: reused(c, result) for c in claims}
        config.stash[_EARLIER] = {name: e for name, e in whole.items() if e is not None}
    return config.stash[_EARLIER]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a file with claims or a curated counterexample; None for others."""
    if file_path.suffix == ".json" and file_path.parent.name == "counterexamples":
        curated = file_path.resolve() in _loaded(parent.config).curated
        return ReplayFile.from_parent(parent, path=file_path) if curated else None
    if file_path.suffix != ".py" or file_path.name.startswith(("test_", "conftest")):
        return None
    claims = _loaded(parent.config).claims.get(file_path.resolve())
    return ClaimFile.from_parent(parent, path=file_path) if claims else None


class ClaimFile(pytest.File):
    """A file that declares claims."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the readings in the order of their ids, each followed by its siblings."""
        claims = _loaded(self.config).claims[self.path.resolve()]
        for claim in sorted(claims, key=lambda c: c.id):
            for part in claim.parts():
                name = claim.id + (f"[{part.name}]" if part.name else "")
                yield ClaimItem.from_parent(self, name=name, claim=claim, part=part.name)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the replays of curated counterexamples before all other items."""
    items.sort(key=lambda item: not isinstance(item, ReplayItem))


class ReplayFile(pytest.File):
    """A curated counterexample."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the item that replays the file."""
        yield ReplayItem.from_parent(self, name=f"replay[{self.path.stem}]")


class ReplayItem(pytest.Item):
    """An item that passes if the stored counterexample still refutes its claim."""

    def runtest(self) -> None:
        """Replay the file.

        Raises:
            ReplayFailure: the counterexample is not confirmed.
        """
        path, loaded = self.path.resolve(), _loaded(self.config)
        result = replay_curated(path, loaded.curated[path], loaded.packs)
        self.user_properties.append((_REPLAY, json.dumps(result.json())))
        if not result.confirmed:
            raise ReplayFailure(str(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return a sentence if a counterexample does not stand, a traceback for any other error."""
        if isinstance(excinfo.value, ReplayFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the place of the stored counterexample."""
        return self.path, None, self.name


class ReplayFailure(Exception):
    """A curated counterexample does not refute its claim."""


class ClaimFailure(Exception):
    """A verdict is not the expected one, or a sibling was not refuted."""


class ClaimItem(pytest.Item):
    """One part of a claim; the reading passes when its verdict is as expected."""

    def __init__(self, *, claim: Claim, part: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.claim = claim
        self.part = part

    def runtest(self) -> None:
        """Check the part on the shards of the profile.

        Raises:
            ClaimFailure: the verdict is not the expected one, or the sibling was not refuted.
        """
        profile = profile_named(self.config.getoption("--profile"))
        seed = self.config.getoption("--claim-seed")
        part = self.claim.part(self.part)
        earlier = _earlier(self.config).get(self.claim.id)
        if earlier is None:
            outcome = check_part(self.claim, part, profile, seed)
        else:
            outcome = Outcome.read(earlier.outcomes[self.part])
        self.user_properties.append((_KEY, json.dumps(outcome.json())))
        if self.part:
            if outcome.error is not None:
                raise ClaimFailure(f"{self.name}: {outcome.error}")
            if outcome.refutes_reading is not None:
                raise ClaimFailure(f"{self.name}: its counterexample refutes the reading as well")
            if outcome.refuted is None and not part.automatic:
                raise ClaimFailure(
                    f"{self.name}: this false sibling survived {outcome.examples} instances, so "
                    "the check of the claim is too weak"
                )
            return
        verdict, reason = assess(self.claim, outcome, (), profile)
        if verdict != self.claim.expected.verdict:
            raise ClaimFailure(
                f"{self.name}: {verdict}; expected {self.claim.expected.verdict}\n{reason}"
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return a sentence for a wrong verdict, a traceback for any other error."""
        if isinstance(excinfo.value, ClaimFailure):
            return f"{excinfo.value}\n{self.claim.statement}\n{self.claim.file}:{self.claim.line}"
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the claim's declaration."""
        return self.path, self.claim.line - 1, self.name


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the replayed counterexamples, and the table of verdicts of the claims that ran."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    replayed: dict[str, Replay] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, text in getattr(report, "user_properties", ()):
                if key == _KEY and report.when == "call":
                    outcome = Outcome.read(json.loads(text))
                    outcomes.setdefault(outcome.claim, {})[outcome.part] = outcome
                elif key == _REPLAY and report.when == "call":
                    replay = Replay(**json.loads(text))
                    replayed[replay.file] = replay
    if replayed:
        terminalreporter.section("counterexamples")
        for line in summary([replayed[file] for file in sorted(replayed)]):
            terminalreporter.line(line)
    if not outcomes:
        return
    profile = profile_named(config.getoption("--profile"))
    claims = {c.id: c for result in _loaded(config).claims.values() for c in result}
    checked = []
    earlier = _earlier(config)
    for claim_id in sorted(outcomes):
        parts = outcomes[claim_id]
        if "" not in parts:
            continue
        claim = claims[claim_id]
        siblings = tuple(parts[s.name] for s in claim.siblings if s.name in parts)
        own = earlier.get(claim_id)
        origin = None if own is None else own.run
        done = concluded(claim, parts[""], siblings, profile)
        checked.append(replace(done, reused=origin))
    terminalreporter.section(f"verdicts ({profile.name})")
    table_text([c.json() for c in checked], terminalreporter._tw._file)
    if _LEDGER in config.stash:
        try:
            terminalreporter.line(_recorded(config, checked, list(replayed.values())))
        except AttsvmError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.INTERRUPTED)


def _recorded(config: pytest.Config, checked: list[Checked], replayed: list[Replay]) -> str:
    """Record the claims that are checked with all siblings; return a sentence about it.

    Raises:
        LedgerError: the code differs from that at the start, or the ledger cannot be written.
    """
    ledger, packs = config.stash[_LEDGER], _loaded(config).packs
    ensure_same_code(packs, config.stash[_CODE], ledger)
    whole = [c for c in checked if len(c.siblings) == len(c.claim.siblings)]
    ids = {c.claim.id for c in whole}
    claims = [c for pack in packs for c in pack.claims if c.id in ids]
    chosen = {curated.shown(f, p) for f, p in curated.chosen(packs, claims).items()}
    profile, seed = config.getoption("--profile"), config.getoption("--claim-seed")
    head = head_of(packs, claims, profile, seed, ledger)
    stood = tuple(r for r in replayed if r.file in chosen)
    record(ledger, head, Report(profile, seed, tuple(whole), stood))
    text = f"{counted(len(whole), 'claim')} recorded in {ledger.path}"
    return f"{text}: attsvm gate --ledger {ledger.path}"

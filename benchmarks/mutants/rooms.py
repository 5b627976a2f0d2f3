"""The tests of each part of attsvm/, and the parts that may have no surviving mutant."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutants.mutations import Mutant, drawn, mutants

ROOT = Path(__file__).resolve().parents[2]

_MATHS = (
    "attention basics constants_attained data definitions errors first_steps gradients language "
    "lipschitz loss_formulas losses reproduce risk selections separation shapes spreads stability "
    "strategies tokens"
)
_EXACT = (
    "constants_attained first_steps gradients local_cones adversarial_starts forged_proofs "
    "prompt_starts descent_runs"
)
_JUDGES = "author_errors check confirm rehearsal script statement_view unsound_claims variables"
_FORMULAS = "aligned_inputs gradients loss_formulas spreads"
_BESIDE = {
    "declaration": "likeness cli_places statement_view",
    "instance": "counterexample shrink",
    "run": "check schedule validity",
    "search": "cli_places curated",
    "record": "files",
    "packs": "cli_places reuse",
    "proof": "",
    "coq": "cli_kernel",
    "gate": "cli_gate",
    "verification": "schedule",
    "report": "",
}
"""Names of tests in other rooms that also test a room of the engine, by room."""


_FEWEST = 8
"""Minimum number of mutants of every room."""


def _files(names: str) -> tuple[str, ...]:
    """Return the files of tests of these names, wherever they lie."""
    results = {path.stem: path for path in (ROOT / "tests").rglob("test_*.py")}
    return tuple(results[f"test_{name}"].relative_to(ROOT).as_posix() for name in names.split())


ROOMS: dict[str, tuple[str, ...]] = {
    **{
        f"{room}/": (f"tests/{room}",)
        for room in ("svm", "training", "paths", "plots", "cli", "heads")
    },
    "svm/bounds": _files("bounds nuclear forged_proofs"),
    "svm/handed": _files("answer soft forged_proofs"),
    "svm/farkas": _files("separability programme forged_proofs"),
    "exact/": ("tests/exact", *_files(_EXACT)),
    "exact/lipschitz": _files("lipschitz stability constants_attained"),
    "limits/": ("tests/limits", *_files("limit_certificates")),
    "lipschitz": _files("lipschitz stability constants_attained basics prompts risk"),
    "kernels/": ("tests/kernels", "tests/training", *_files("methods nuclear soft")),
    **{
        f"theory/{part}": ("tests/theory/arithmetic", *_files(f"{_JUDGES} {_FORMULAS}"))
        for part in ("arithmetic/", "run/confirm", "declaration/judge")
    },
    "theory/gate/gate": _files("gate gate_attacks cli_gate"),
    **{
        f"theory/{part}/": (f"tests/theory/{part}", *_files(names))
        for part, names in _BESIDE.items()
    },
    "strategies/": ("tests/strategies", *_files("separation landscape")),
    "": ("tests/primitives", *_files(f"{_MATHS} files codec ledger plugin")),
}
"""Starts of paths in attsvm/ with the tests of these files; "" stands for all other files."""
CERTIFYING = (
    *("exact/", "exact/lipschitz", "limits/", "lipschitz"),
    *("svm/bounds", "svm/farkas", "svm/handed"),
    *(
        "theory/arithmetic/",
        "theory/proof/",
        "theory/gate/gate",
        "theory/run/confirm",
        "theory/declaration/judge",
    ),
)
"""Rooms that prove or judge: no mutant may survive there, and their lines count threefold."""


def room_of(file: str) -> str:
    """Return the room that a file of attsvm/ belongs to."""
    return max((r for r in ROOMS if file.startswith(f"attsvm/{r}")), key=len)


def sample(rooms: Sequence[str], count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return mutants of each room in proportion to its lines, threefold for `CERTIFYING`.

    A room is one of `ROOMS`, or the start of a path in it.
    """
    results: list[tuple[str, Mutant]] = []
    texts = {p.relative_to(ROOT).as_posix(): p for p in sorted(ROOT.glob("attsvm/**/*.py"))}
    texts = {file: path.read_bytes() for file, path in texts.items()}
    own = {
        r: [f for f in texts if f.startswith(f"attsvm/{r}") and (r not in ROOMS or room_of(f) == r)]
        for r in rooms
    }
    lines = {
        room: sum(texts[f].count(b"\n") for f in files) * (3 if room in CERTIFYING else 1)
        for room, files in own.items()
    }
    for room, files in own.items():
        share = max(-(-count * lines[room] // sum(lines.values())), min(count, _FEWEST))
        pool = [m for f in files for m in mutants(f, texts[f])]
        results += [(room, m) for m in drawn(pool, share, f"{seed}/{room}")]
    return results

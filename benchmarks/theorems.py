"""Reversed theorems: `python -m benchmarks.theorems [--every 1] [--coqc coqc] [ID ...]`.

The command takes the theorem of each stored counterexample and negates each of its parts in turn.
Coq tries the tactic that proves the part; it must fail. It prints the number of reversed parts, and
those that Coq proves.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attsvm.theory import load_packs
from attsvm.theory.coq.kernel import LIBRARY, Compiler
from attsvm.theory.coq.theorems import Theorem, expressible, refutation
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.record.curated import known

_HEAD = f"From Interval Require Import Tactic.\nRequire Import {' '.join(LIBRARY)}.\n"
_SECONDS = 10
"""Time limit of a tactic; a true part takes less."""


def main() -> int:
    """Print what Coq says of reversed parts; return 1 if it proves one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every k-th theorem")
    parser.add_argument("--coqc", default="coqc", metavar="PROGRAM", help="the compiler of Coq")
    parser.add_argument("ids", nargs="*", metavar="ID")
    options = parser.parse_args()
    claims = find_claims(load_packs(), options.ids)
    written = [expressible(refutation, claim, case)[0] for claim in claims for case in known(claim)]
    theorems = [theorem for theorem in written if theorem is not None]
    text = "".join(map(reversed_parts, theorems[:: options.every]))
    asked = len(re.findall(r"^Goal ", text, re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder), options.coqc)
        for name in LIBRARY:
            compiler.compiled(name)
        command = [options.coqc.replace("coqc", "coqtop"), "-q", "-quiet"]
        done = subprocess.run(
            command, cwd=folder, input=_HEAD + text, capture_output=True, text=True, check=True
        )
    proved = re.findall(r"^PROVED .*", done.stdout, re.MULTILINE)
    refused = done.stdout.count("REFUSED ")
    print(f"{asked} reversed parts: {refused} refused, {len(proved)} proved", *proved, sep="\n")
    return int(refused != asked)


def reversed_parts(theorem: Theorem) -> str:
    """Return a text in which Coq tries to prove the negation of each part of a theorem."""
    lines = [f"Module {theorem.name}.", *theorem.terms]
    names = ", ".join(name for name, _ in reversed(theorem.definitions))
    unfold = f"unfold {names}; " if names else ""
    for k, (part, tactic) in enumerate(
        zip(theorem.says.split(" /\\\n  "), theorem.tactics, strict=True)
    ):
        for other in _negations(part):
            tried = f"timeout {_SECONDS} (solve [{unfold}{tactic}])"
            place = f'"{theorem.name} {k}"'
            lines.append(
                f'Goal {other}. first [{tried}; idtac "PROVED" {place} | idtac "REFUSED" {place}].'
            )
            lines.append("Abort.")
    return "\n".join([*lines, f"End {theorem.name}.", "", ""])


def _negations(part: str) -> Iterator[str]:
    """Yield the negation of a part; of a comparison also the reversed one."""
    yield f"~ ({part})"
    if part.endswith((" = true", " = false")):
        text, _, value = part.rpartition(" = ")
        yield f"{text} = {'false' if value == 'true' else 'true'}"
    elif part.count(" < ") == 1 and not part.startswith(("(", "~")):
        left, right = part.split(" < ")
        yield f"{right} < {left}"


if __name__ == "__main__":
    raise SystemExit(main())

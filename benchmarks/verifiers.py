"""Changed verifiers: `python -m benchmarks.verifiers [--every 1]`.

The command takes the verifier of each stored counterexample and changes its statement. It negates
the claim, then each hypothesis; neither program may find a violation. Then it sets each number of
the instance to 0. A changed instance may be a counterexample too: a violation is counted as wrong
only if the engine does not refute it.
"""

import argparse
import contextlib
import io
import re
from collections.abc import Iterator

from attsvm.theory import load_packs
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec
from attsvm.theory.record import checker, curated
from attsvm.theory.report.verifier import verifier_or_reason
from attsvm.theory.run.confirm import examine

_NEGATION = """
def negation(answer):
    truth = None if answer.truth is None else not answer.truth
    return Answer(truth, -answer.slack)
"""


def main() -> int:
    """Print the number of changes of each kind; return 1 if one of them finds a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every k-th counterexample")
    every = parser.parse_args().every
    claims = [claim for pack in load_packs() for claim in pack.claims if curated.known(claim)]
    tried: dict[str, int] = {}
    wrong: list[str] = []
    for claim in claims[::every]:
        for kind, name, is_wrong in _changes(claim):
            tried[kind] = tried.get(kind, 0) + 1
            if is_wrong:
                wrong.append(f"{claim.id}: {kind} {name}")
    for kind, count in tried.items():
        print(f"{kind}: {count} tried")
    print(*wrong or ["none found a violation"], sep="\n")
    return int(bool(wrong))


def _changes(claim: Claim) -> Iterator[tuple[str, str, bool]]:
    """Yield each change of a verifier: its kind, its place, whether a violation is wrong."""
    case, *_ = curated.known(claim)  # the smallest one
    text, _ = verifier_or_reason(claim, case)
    if text is None:
        return
    yield "negated claim", "", violated(negated(text, checker.CLAIM))
    for hypothesis in claim.hypotheses:
        yield "negated hypothesis", hypothesis.name, violated(negated(text, hypothesis.name))
    for place, other in _zeroed(codec.encode(case)):
        with contextlib.suppress(Exception):  # the numbers may not fit together any more
            changed = codec.decode_exactly(other, claim.instance_type)
            program, _ = verifier_or_reason(claim, changed)
            if program is not None:
                refuted = examine(claim, claim.part(""), changed).refuted
                yield "changed instance", place, violated(program) and not refuted


def violated(text: str) -> bool:
    """Return whether a verifier finds a violation."""
    space: dict[str, object] = {"__name__": "verifier"}
    exec(text, space)
    with contextlib.redirect_stdout(io.StringIO()):
        return bool(space["check"](space["statement"]))  # type: ignore[operator]


def negated(text: str, name: str) -> str:
    """Return the verifier with the negation of the claim, or of the hypothesis of that name.

    Raises:
        ValueError: the verifier has no such line.
    """
    line = re.compile("^" + re.escape(f"    yield {name!r}, ") + "(.*)$", re.MULTILINE)
    if not line.search(text):
        raise ValueError(name)
    text = line.sub(lambda match: f"    yield {name!r}, negation({match[1]})", text)
    return text.replace("\ndef check(", _NEGATION + "\n\ndef check(")


def _zeroed(document: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Yield an encoded instance with one of its numbers set to 0, for each that is not 0."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from ((p, {**document, key: new}) for p, new in _zeroed(value, f"{place}.{key}"))
    elif isinstance(document, list):
        for k, value in enumerate(document):
            for p, new in _zeroed(value, f"{place}[{k}]"):
                yield p, [*document[:k], new, *document[k + 1 :]]
    elif isinstance(document, str) and re.fullmatch(r"-?([1-9]\d*(/\d+)?|0x1\..*)", document):
        yield place, "0"


if __name__ == "__main__":
    raise SystemExit(main())

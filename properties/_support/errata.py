"""Errata from the statements themselves: what falls is what they expect to."""

from collections.abc import Mapping

from attsvm.theory import Statement, Truth
from attsvm.theory.report.errata import Erratum, Weight

_STAND = (Truth.PROVED, Truth.HOLDS)


def erratum(
    *declared: Statement,
    weight: Weight,
    fell: str = "",
    gist: str,
    fails: str,
    printed: str = "",
    repair: str = "",
    stands: tuple[str, ...] = (),
    telling: Mapping[str, int] | None = None,
) -> Erratum:
    """The erratum of a statement, which rests on all its readings that are expected to fall.

    Args:
        declared: the statement, in parts where its readings are about different variables.
        weight: how much hangs on it.
        fell: what fell, where it is not the claim itself: a step of a proof, the orientation.
        gist: what was found, for the list that comes first.
        fails: what fails, and why.
        printed: what is printed, where the quotation and the refuted readings do not say it.
        repair: the least change that stands, where the sentences of `stands` do not say it.
        stands: the names of the readings that stand and that the repair rests on; without names
            all that stand.
        telling: by the names of readings, which of their examples tell more than the smallest.
    """
    claims = {c.reading: c for statement in declared for c in statement.claims}
    falls = [c.id for c in claims.values() if c.expected.truth is Truth.REFUTED]
    falls.sort(key=lambda id: ":literal" not in id)
    expected = [c.reading for c in claims.values() if c.expected.truth in _STAND]
    standing = tuple(claims[name].id for name in stands or expected)
    told = {claims[name].id: claims[name].examples[k] for name, k in (telling or {}).items()}
    words = (weight, gist, printed, fails, repair)
    return Erratum(declared[0].id, *words, tuple(falls), standing, told, fell)


def placed(source: str, names: str) -> tuple[str, ...]:
    """The ids of a source's statements, in the order in which their names are listed."""
    return tuple(f"{source}/{name}" for name in names.split())

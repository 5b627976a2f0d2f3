"""The view of a source: its statements in order, and the results for them by their rank."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.errata import Rank, Source, Weight, ensure_whole, find_source, in_order
from attsvm.theory.record.runs import Run
from attsvm.theory.report.view import Fate, ReadingView, StatementView, statement_view


@dataclass(frozen=True, slots=True, eq=False)
class SourceView:
    """A source with its statements, in its order.

    Attributes:
        source: the texts about it.
        title: the paper or talk.
        statements: its statements.
    """

    source: Source
    title: str
    statements: tuple[StatementView, ...]

    @property
    def readings(self) -> list[ReadingView]:
        """The readings of all its statements."""
        return [r for s in self.statements for r in s.readings]

    def of_weight(self, weight: Weight) -> list[StatementView]:
        """Return the refuted statements with errata of a weight, in the order of the errata."""
        shown = {s.id: s for s in self.statements if s.shown_erratum}
        return [shown[e.statement] for e in self.source.of_weight(weight) if e.statement in shown]

    def fates(self, rank: Rank) -> dict[Fate, list[StatementView]]:
        """Return the printed statements of a rank by their result, the best result first.

        A statement counts as printed if it quotes a sentence and has a literal reading.
        """
        printed = [
            s
            for s in self.statements
            if s.rank is rank and s.printed_readings and s.origin == "printed"
        ]
        groups = {fate: [s for s in printed if s.fate is fate] for fate in Fate}
        return {fate: some for fate, some in groups.items() if some}

    def account(self) -> str:
        """Return a sentence that counts the printed statements by their fate.

        Definitions and assumptions assert nothing, so they are not counted.
        """
        counted = [s for s in self.statements if s.rank is not Rank.DEFINITION]
        fates = [s.fate for s in counted if s.printed_readings and s.origin == "printed"]
        falls = "; ".join(f"{fate}: {fates.count(fate)}" for fate in Fate if fate in fates)
        if not fates:
            return ""
        return f"Printed statements: {len(fates)}. {falls[0].upper()}{falls[1:]}."


def source_view(name: str, packs: Sequence[Pack], run: Run, *, ran: bool = False) -> SourceView:
    """Return the view of a source: its claims, and further claims of it that the run checked.

    Args:
        name: the prefix of the ids of its claims.
        packs: loaded packs; files beside their claims may describe the source.
        run: the run with its verdicts.
        ran: whether to leave out readings that the run did not plan to check.

    Raises:
        FileError: a text about the source fits no claim.
    """
    source = find_source(packs, name)
    claims = list({c.id: c for pack in packs for c in pack.claims}.values())
    ensure_whole(source, claims)
    known = in_order(source, (c for c in claims if c.id.startswith(f"{name}/")))
    asked = [i.partition(":")[0] for i in sorted({*run.claims, *run.verdicts})]
    ids = dict.fromkeys([*known, *(i for i in asked if i.partition("/")[0] == name)])
    views = [statement_view(i, claims, source, run) for i in ids if not ran or i in set(asked)]
    if ran:
        views = [replace(s, readings=tuple(r for r in s.readings if r.ran)) for s in views]
    title = next((known[s.id][0].source for s in views if s.id in known), name)
    return SourceView(source, title, tuple(views))

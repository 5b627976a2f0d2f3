"""Questions in a file, by the names that the file gives them."""

from collections.abc import Sequence
from pathlib import Path

from attsvm._words import nearest
from attsvm.errors import ClaimError
from attsvm.theory.declaration.question import Question
from attsvm.theory.declaration.statement import Statement
from attsvm.theory.packs.code_bases import module_of_source


def questions_in(file: str) -> dict[str, Question]:
    """Return the questions of a file by name, in their order.

    Raises:
        ClaimError: the file cannot be loaded, or holds no question.
    """
    if file.endswith(".py") and not Path(file).exists():
        raise ClaimError(
            "there is no file of that name",
            value=file,
            remedy="Check the path; docs/asking.md has questions to copy.",
        )
    values = vars(module_of_source(file)).items()
    named = {name: value for name, value in values if isinstance(value, Question)}
    if not named:
        remedy = "Write NAME = question(lambda m, v: ..., x=Real()) at its top level."
        if any(isinstance(value, Statement) for _, value in values):
            remedy = f"`attsvm verify --only-pack {file}` checks its claims."
        raise ClaimError("a file holds no question", value=file, remedy=remedy)
    return named


def chosen(file: str, names: Sequence[str]) -> list[str]:
    """Return the names of the questions to answer: the given ones, or all of a file.

    Raises:
        ClaimError: the file cannot be loaded, or has no question of a name.
    """
    known = list(questions_in(file))
    for name in names:
        if name not in known:
            remedy = nearest(name, known) or f"It has {', '.join(known)}."
            raise ClaimError(f"{file} has no question of that name", value=name, remedy=remedy)
    return list(names) or known

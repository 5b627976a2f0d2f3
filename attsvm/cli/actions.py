"""Output for GitHub Actions: errors at lines of files, and the summary of a step."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from attsvm._files import append_text
from attsvm.errors import FileError


def in_actions() -> bool:
    """Return whether a workflow of GitHub Actions runs this command."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotation(text: str, place: tuple[Path, int] | None) -> str:
    """Return a workflow command that shows an error, at a line of a file if it is known.

    Args:
        text: the error.
        place: the file and its line.
    """
    where = ""
    if place is not None:
        file = within(place[0], Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()))
        where = f" file={_property(file)},line={place[1]}"
    return f"::error{where}::{_message(text)}"


def within(path: Path, folder: Path) -> str:
    """Return a path as seen from a folder, if it lies within it; otherwise as it is."""
    inside = path.is_relative_to(folder)
    return path.relative_to(folder).as_posix() if inside else str(path)


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def summarise(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Add a table to the summary of the step, if there is one.

    A summary that cannot be written is reported on standard error and changes nothing else.

    Args:
        title: the heading, as plain text.
        titles: the headings of the columns; shown only above rows.
        rows: the cells, as plain text.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    from attsvm.theory.report.markdown import table
    from attsvm.theory.report.rendering import safe

    parts = [f"### {safe(title)}"]
    if rows:
        parts.append(table(titles, [[safe(cell) for cell in row] for row in rows]))
    try:
        append_text(path, "\n" + "\n\n".join(parts) + "\n")
    except FileError as error:
        print(f"attsvm: the summary of the step is not written: {error.cause}", file=sys.stderr)

"""The pages of the site that are written from the code while it is built.

They are the reference, a page for each package of attsvm; the table of the namespace `m`; a page
for each statement of the sources, with its mathematics and the reviewed verdicts; and a page for
each notebook, with the outputs that it is stored with.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from attsvm.theory import load_packs
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.declaration.typesetting import lets
from attsvm.theory.record.errata import Weight, find_source, in_order
from attsvm.theory.report import notation
from attsvm.theory.report.notation import prose
from attsvm.theory.report.view import ReadingView, StatementView, statement_view

DOCS = Path(__file__).parent
ROOT = DOCS.parent
FOLDER = DOCS / "generated"

STATEMENTS = """\
A page for each statement: the sentence as printed, its readings in mathematics with their verdicts,
counterexample, repair, proof."""

REFERENCE = """\
A page for each package of attsvm. The names of `from attsvm import ...` and of
`from attsvm.theory import ...` stand on the pages of the modules that define them; the search field
finds any name. Shapes stand in the annotations: `Float[Array, "n d"]` is an array of n rows and d
columns. Norms are Frobenius norms unless a page says otherwise."""

_LONG = 90
"""Maximum length of LaTeX, in characters, that stays within a line."""


def inline(latex: str) -> str:
    """Return a formula within a line; a long one gets a line of its own, scrolling on a phone."""
    if len(latex) > _LONG and r"\text{" not in latex:
        return f"$${latex}$$"
    return notation.inline(latex)


def display(latex: str) -> str:
    """Return a formula on a line of its own; one that is mostly words stays in its line."""
    return inline(latex) if r"\text{" in latex else f"$$\n{latex}\n$$"


def supposed(r: ReadingView) -> str:
    """Return the variables of a reading with their domains, as they follow "Let"."""
    return ", ".join(map(prose, lets(r.claim.formula)))


def ending(r: ReadingView) -> str:
    """Return what follows the conclusion of a reading: its sharpness, and senses of words."""
    return prose(re.search(r'(No smaller constant will do\. ?)?(Here ".*)?$', r.says)[0])


def _statements(name: str, views: Sequence[StatementView]) -> Iterator[tuple[str, str]]:
    """Yield the page of each statement of a source, and the page that lists them."""
    known = {s.id for s in views}

    def links(ids: Sequence[str]) -> str:
        return ", ".join(f"[{i}]({page(i)}.md)" if i in known else i for i in ids)

    def page(id: str) -> str:
        return id.partition("/")[2]

    def file(text: str, path: str | Path) -> str:
        return f"[{text}](../../../../{Path(path).resolve().relative_to(ROOT).as_posix()})"

    def declared(s: StatementView) -> str:
        places = dict.fromkeys(r.claim.file for r in s.readings)
        return ", ".join(file(f"`{Path(p).relative_to(ROOT)}`", p) for p in places)

    def proof(name: str) -> str:
        module = name.partition(":")[0].replace(".", "/")
        return file(f"`{name}`", next(ROOT.glob(f"{module}.py"), ROOT / module / "__init__.py"))

    filters = {
        "prose": prose, "inline": inline, "display": display, "lets": supposed,
        "ending": ending, "links": links, "page": page, "declared": declared, "proof": proof,
        "path": lambda path: Path(path).relative_to(ROOT).as_posix(),
    }  # fmt: skip
    templates = Environment(
        loader=FileSystemLoader(DOCS / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= filters
    page_of = templates.get_template("statement.md")
    for s in views:
        where = Counter(w["latex"] for r in s.readings for w in r.formula["where"])
        shared = [line for line, times in where.items() if times > 1]
        text = page_of.render(s=s, source=name, shared=shared)
        yield f"statements/{s.id}", re.sub(r"\n{3,}", "\n\n", text)
    text = templates.get_template("statements.md").render(name=name, views=views, weights=Weight)
    yield f"statements/{name}", re.sub(r"\n{3,}", "\n\n", text)


def _listing(title: str, lead: str, places: Mapping[str, str]) -> str:
    """Return a page that lists other pages, by their names."""
    tree = "\n".join(f"{name} <{place}>" for name, place in places.items())
    return f"# {title}\n\n{lead}\n\n```{{toctree}}\n:maxdepth: 1\n\n{tree}\n```\n"


def statements() -> Iterator[tuple[str, str]]:
    """Yield the pages of all statements, with the reviewed verdicts."""
    packs = load_packs()
    claims = [c for pack in packs for c in pack.claims]
    names = sorted({c.id.partition("/")[0] for c in claims})
    places = {name: f"statements/{name}" for name in names}
    yield "statements", _listing("Statements", STATEMENTS, places)
    for name in names:
        source = find_source(packs, name)
        own = in_order(source, (c for c in claims if c.id.startswith(f"{name}/")))
        yield from _statements(name, [statement_view(id, claims, source) for id in own])


def reference() -> Iterator[tuple[str, str]]:
    """Yield a page of the reference for each package of attsvm, and the page that lists them."""
    rooms: dict[str, list[str]] = {}
    for file in sorted((ROOT / "attsvm").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        if not any(part.startswith("_") for part in parts):
            rooms.setdefault(".".join(parts[:-1]), []).append(".".join(parts))
    places = {room: f"reference/{room}" for room in rooms}
    yield "reference", _listing("Python reference", REFERENCE, places)
    for room, modules in rooms.items():
        text = f"# {room}\n\n```{{eval-rst}}\n.. automodule:: {room}\n```\n"
        for module in modules:
            text += (
                f"\n## {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```\n"
            )
        yield f"reference/{room}", text


def namespace() -> Iterator[tuple[str, str]]:
    """Yield the table of the functions that a formula may use."""
    rows, functions = [], {}
    for kind in reversed(Namespace.__mro__):
        functions.update(vars(kind))
    for name, function in functions.items():
        if not name.startswith("_") and inspect.isfunction(function):
            given = ", ".join(list(inspect.signature(function).parameters)[1:])
            first = " ".join(inspect.getdoc(function).partition("\n\n")[0].split())
            rows.append(f"| `m.{name}({given})` | {prose(first)} |")
    lead = " ".join(inspect.getdoc(inspect.getmodule(Namespace)).partition("\n\n")[2].split())
    head = "| function | result |\n| --- | --- |\n"
    yield "namespace", f"# The namespace m\n\n{lead}\n\n{head}" + "\n".join(rows) + "\n"


def notebooks() -> Iterator[tuple[str, str]]:
    """Yield a page for each notebook, with its stored outputs, which a test compares with a run."""
    for path in sorted((ROOT / "examples/notebooks").glob("*.ipynb")):
        parts = []
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            code = cell["cell_type"] == "code"
            parts.append(f"```python\n{source}\n```" if code else source)
            for output in cell.get("outputs", []):
                lines = output["text"] if "text" in output else output["data"]["text/plain"]
                shown = "".join(lines).rstrip()
                parts.append(f"```{{code-block}} text\n:class: output\n\n{shown}\n```")
        name = path.relative_to(ROOT).as_posix()
        parts.insert(
            1, f"A page of the notebook [`{name}`](../../../{name}), with its stored outputs."
        )
        yield f"notebooks/{path.stem}", "\n\n".join(parts) + "\n"


def write() -> None:
    """Write all pages, and remove those of earlier builds that have no text now.

    A page that is the same stays untouched, so that Sphinx skips it.
    """
    pages = dict((*reference(), *namespace(), *statements(), *notebooks()))
    for old in FOLDER.rglob("*.md"):
        if old.relative_to(FOLDER).as_posix().removesuffix(".md") not in pages:
            old.unlink()
    for name, text in pages.items():
        file = FOLDER / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")

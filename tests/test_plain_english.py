"""Docstrings and names are plain English, as far as syntax shows it; counts can only fall."""

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

from tests.parsed import parsed

ROOT = Path(__file__).parents[1]
ROOMS = ("attsvm", "benchmarks", "examples", "properties", "symbolic")
LONGEST = 30
"""Maximum number of words of a sentence."""
CLAUSES = re.compile(r"(What|Whose|Of which|Which|Those|Ones|Who|How (often|many|much|far|near))\b")
"""Beginnings of sentences that make a clause or a pronoun their subject."""
LETTER = r"[A-Za-z]\b|[A-Za-z]\w*[_\d|]|\||(?:mu|nu|tau|rho|eta|gamma|delta|lambda|alpha|beta)\b"
WHERE = re.compile(rf"\b[Ww]here (?!{LETTER})[a-z]+\b")
"""The word "where" before anything but a letter whose meaning it gives: mostly a condition."""
NAMES = frozenset({"found", "given", "here", "said", "taken", "those", "told", "way"})
"""Names that say when or how a value was obtained, instead of what it is."""
UNITS = re.compile(
    "absolute|angle|below|bits|bound|budget|bytes|characters|code|cost|days|default|degrees|depth|"
    "digits|dimension|distance|error|exponent|factor|gap|interval|largest|least|length|level|"
    "limit|lines|lower|maximum|milliseconds|minimum|minutes|number|percent|points|power|"
    "precision|price|prime|probability|radius|ratio|relative|seconds|seed|share|size|smallest|"
    "steps|threshold|times|tolerance|unit|upper|version|weight|width",
    re.IGNORECASE,
)
"""Words by which a numeric constant says its unit or what it limits."""
WORD = re.compile(r"[(\"'`]*[A-Za-z][a-z'’]+(-[a-z]+)*[)\"'`.,;:!?]*|[aIA][.,;:]?")
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|Options|Limits):$")
ENTRY = re.compile(r"    (    )?[\w*, `.]+: ")
ITEM = re.compile(r"\s*([-*]|\d+\.) ")


def is_text(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def docstrings(tree):
    """Line, node and text of each docstring, that of a constant included."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            for before, statement in zip([None, *body], body, strict=False):
                if not is_text(statement):
                    continue
                if before is None and isinstance(
                    node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                ):
                    yield statement.lineno, node, statement.value.value
                elif isinstance(before, ast.Assign | ast.AnnAssign):
                    yield statement.lineno, before, statement.value.value


def entries(lines, begins, skip):
    """The entries of a list or of a section, each in one line."""
    joined = []
    for line in lines:
        if begins(line) or not joined:
            joined.append(skip(line))
        else:
            joined[-1] += " " + line.strip()
    return joined


def prose(text):
    """The paragraphs and list entries of a docstring, without displays and tables."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = paragraph.split("\n")
        if all(line.startswith(("  ", "|", ">>>")) for line in lines):
            continue
        if SECTION.match(lines[0]):
            yield from entries(lines[1:], ENTRY.match, lambda line: ENTRY.sub("", line).strip())
        elif ITEM.match(lines[0]):
            yield from entries(lines, ITEM.match, lambda line: ITEM.sub("", line, count=1))
        else:
            yield " ".join(line.strip() for line in lines)


def sentences(paragraph):
    plain = re.sub(r"\b(e\.g|i\.e|cf|resp|eq|pp?|vs|J|Math|Soc|London)\. ", r"\1 ", paragraph)
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`(\"'|<0-9])", plain)


def is_number(node):
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp():
            return is_number(node.left) and is_number(node.right)
        case ast.UnaryOp():
            return is_number(node.operand)
        case ast.Tuple(elts=elements):
            return bool(elements) and all(map(is_number, elements))
    return False


def is_numeric_constant(node):
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return re.sub(r"[\W_]", "", ast.unparse(target)).isupper() and is_number(node.value)


def faults(tree):
    """Kind, line and text of each fault of a module."""
    for line, node, text in docstrings(tree):
        for paragraph in prose(text):
            for match in WHERE.finditer(paragraph):
                yield "where", line, paragraph[max(0, match.start() - 30) : match.end() + 30]
            for sentence in sentences(paragraph):
                if CLAUSES.match(sentence):
                    yield "clause", line, sentence
                if sum(bool(WORD.fullmatch(word)) for word in sentence.split()) > LONGEST:
                    yield "long", line, sentence
        if is_numeric_constant(node) and not UNITS.search(text):
            yield "unit", line, text
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case _:
                continue
        if name.strip("_") in NAMES:
            yield "name", node.lineno, name


@functools.cache
def faults_of(room):
    found = {}
    for path in sorted((ROOT / room).rglob("*.py")):
        for kind, line, text in faults(parsed(path)):
            found.setdefault(kind, []).append(f"{path.relative_to(ROOT)}:{line}: {text}")
    return found


def faults_of_text(text):
    """Kind and text of each fault of a document; a question may begin with what it asks for."""
    text = re.sub(r"^```.*?^```|\$\$.*?\$\$|^\|.*?$", "\n\n", text, flags=re.M | re.S)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        if paragraph.lstrip().startswith(("#", "<")):
            continue
        plain = re.sub(r"^([-*]|\d+\.) ", "", " ".join(paragraph.split()))
        plain = re.sub(r"\$[^$]*\$", "x", re.sub(r"\]\([^)]*\)", "]", plain))
        for match in WHERE.finditer(plain):
            yield "where", plain[max(0, match.start() - 30) : match.end() + 30]
        for sentence in sentences(plain):
            if CLAUSES.match(sentence.lstrip("*")) and "?" not in sentence:
                yield "clause", sentence
            if sum(bool(WORD.fullmatch(word)) for word in sentence.split()) > LONGEST:
                yield "long", sentence


MOST = {
    "attsvm": {"name": 4},
    "benchmarks": {},
    "examples": {},
    "properties": {},
    "symbolic": {},
}
"""Maximum number of faults of each kind by room; a kind that is missing has none."""


@pytest.mark.parametrize("room", ROOMS)
def test_plain_english(room):
    faults, most = faults_of(room), MOST[room]
    worse = {k: places for k, places in faults.items() if len(places) > most.get(k, 0)}
    assert not worse, (
        f"{room} has { ({k: len(places) for k, places in worse.items()}) }, at most {most} are "
        "allowed; write in plain English:\n"
        + "\n".join(place for places in worse.values() for place in places)
    )


WRITTEN = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
    *(p for p in (ROOT / "docs").glob("*.md") if p.stem not in ("sim", "tf", "mm")),
    *(p for folder in ("tutorials", "proofs") for p in (ROOT / "docs" / folder).glob("*.md")),
]
"""Documents by hand; pages of sources are written from claims and quote print."""


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_documents_are_plain_english(page):
    assert list(faults_of_text(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("where", "It is 0 where nothing moves."),
        ("clause", "- What a run did is kept."),
        ("long", f"It is {'very ' * LONGEST}long."),
    ],
)
def test_a_fault_of_a_document_is_noticed(kind, text):
    assert [found for found, _ in faults_of_text(text)] == [kind]
    assert not list(faults_of_text(f"```\n{text}\n```\n\nWhat is a run? There, where a is 1."))


@pytest.mark.parametrize("room", ROOMS)
def test_the_maxima_are_lowered_as_faults_go(room):
    counts = {kind: len(faults_of(room).get(kind, [])) for kind in MOST[room]}
    assert all(MOST[room][kind] - count <= 10 for kind, count in counts.items()), (
        f"lower the maxima of {room} to {counts}"
    )


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("where", '"""Return 0 where nothing moves."""'),
        ("clause", '"""What a run did."""'),
        ("long", f'"""Return {"very " * LONGEST}long sentences."""'),
        ("unit", 'MOST = 3\n"""Turns at first."""'),
        ("name", "def f():\n    found = 1\n    return found"),
    ],
)
def test_a_fault_is_seen(kind, source):
    assert [kind for kind, *_ in faults(ast.parse(source))] == [kind]


@pytest.mark.parametrize(
    "source",
    [
        '"""Return x + y, where y is the second number."""',
        'MOST = 3\n"""Maximum number of turns."""',
        '"""Return a.\n\n    what where those\n\nText.\n"""',
    ],
)
def test_plain_english_has_no_fault(source):
    assert not list(faults(ast.parse(source)))

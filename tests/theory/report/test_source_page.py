"""The page of a source says what a run and its claims say, whatever they say."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import toy_pack
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from toy_pack import below_five, below_five_ball, build

from attsvm._words import printable
from attsvm.errors import ClaimError, FileError, UsageError
from attsvm.theory.declaration.verdict import Fairness
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record import curated
from attsvm.theory.record.errata import Rank
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import Run, last_run
from attsvm.theory.report.markdown import source_page
from attsvm.theory.report.notation import pieces
from attsvm.theory.report.rendering import sentence
from attsvm.theory.report.view import Fate
from attsvm.theory.verification.verify import verify

WORDS = {
    "statement": "toy/b-2",
    "weight": "constant",
    "gist": "5 is | too small",
    "printed": "it is <= 5 | always",
    "fails": "6 is more",
    "repair": "say <= 7.",
}
TOYS = ["--pack", str(Path(toy_pack.__file__))]


def renamed(claim, id):
    return replace(claim, id=id)


FALSE = build("b-2", below_five, below_five_ball, expected="refuted", examples=(13.5, 4.0, 6.0))
REPAIRED = renamed(build("b-2", below_five, below_five_ball), "toy/b-2:amended")
TRUE = renamed(toy_pack.true, "toy/b-10:literal")
CLAIMS = (FALSE, REPAIRED, TRUE)


def entry(claim, truth="holds", evidence="numeric", **changes):
    words = {"truth": truth, "evidence": evidence, "validity": "exercised"}
    return {"id": claim.id, **words, "siblings": [], "examples": 3, **changes}


def run(*entries, **changes):
    entries = entries or (entry(FALSE, "refuted", "certified"), entry(REPAIRED), entry(TRUE))
    verdicts = {e["id"]: e for e in entries}
    return replace(Run("quick", 0, tuple(verdicts), verdicts, True, 0), **changes)


@pytest.fixture
def pack(tmp_path):
    """The three claims in a folder of their own, with a curated counterexample 6."""
    claims = tuple(replace(c, file=str(tmp_path / "mine" / "toys.py")) for c in CLAIMS)
    place = curated.place(claims[0])
    place.parent.mkdir(parents=True)
    (tmp_path / "mine" / "toys.py").touch()
    keep(place, 6.0)
    return Pack("toys", claims, tmp_path / "mine")


def keep(place, case, **changes):
    stored = {"schema": 1, "kind": "attsvm-counterexample", "claim": FALSE.id, "sibling": None}
    place.write_text(json.dumps({**stored, "instance": codec.encode(case), **changes}))


@pytest.fixture
def described(pack):
    """Give the pack a file of words on its source, and return the pack."""

    def describe(*errata, **words):
        folder = pack.folder / "errata"
        folder.mkdir(exist_ok=True)
        lines = [*map(field, {"source": "toy", **words}.items())]
        for words in errata:
            lines += ["[[errata]]", *map(field, words.items())]
        (folder / "toy.toml").write_text("\n".join(lines))
        return pack

    return describe


def field(item):
    key, value = item
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k)} = {json.dumps(v)}" for k, v in value.items())
        return f"{key} = {{{', '.join(pairs)}}}"
    return f"{key} = {json.dumps(value)}"


def erratum(**changes):
    return {**WORDS, **changes}


def account(printed, fate):
    return f"Printed statements: {printed}. {fate[:1].upper()}{fate[1:]}: 1."


def page(pack, of=None, place="docs/toy.md"):
    return source_page("toy", [pack], of or run(), pack.folder.parent / place)


def tables(text):
    """The cells of every row of every table; all rows of a table have as many."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
        assert len({len(row) for row in rows}) == 1
        found.append([[cell.strip() for cell in row] for row in rows])
    return found


LINK = "[literal](../mine/counterexamples/toy--b-2--literal.json)"


def test_a_row_a_reading_with_its_verdict(pack):
    _, _, *rows = tables(page(pack))[0]
    file = "(../mine/toys.py)"
    above, stands = "[above](#here-toyb-2)", "[above](#as-printed)"
    assert rows == [
        [f"b-2, here<br>[literal]{file}", above, "refuted / certified / exercised", "", "3"],
        [f"[amended]{file}", "b-2.", "holds / numeric / exercised", "", "3"],
        [f"b-10, here<br>[literal]{file}", stands, "holds / numeric / exercised", "", "3"],
    ]


def test_the_source_gives_the_order_and_what_it_forgets_comes_last(described):
    pack = described(order=["toy/b-10"])
    rows = tables(page(pack))[0][2:]
    assert [row[0].partition(",")[0] for row in rows if "<br>" in row[0]] == ["b-10", "b-2"]


def test_readings_are_in_their_order_and_kind(pack):
    names = ["sharp", "literal-10", "literal-2", "amended"]
    claims = tuple(renamed(TRUE, f"toy/a:{name}") for name in names)
    entries = [entry(c, tightness=k / 3 or None) for k, c in enumerate(claims)]
    rows = tables(page(replace(pack, claims=claims), run(*entries)))[0][2:]
    assert [re.findall(r"\[(.*?)\]", row[0])[0] for row in rows] == [
        *("literal-2", "literal-10", "amended", "sharp")
    ]
    assert [row[3:] for row in rows] == [["0.667", "3"], ["0.333", "3"], ["1", "3"], ["", "3"]]


def test_a_ratio_below_one_of_a_refuted_reading_is_not_shown(pack):
    for ratio, shown in ((0.5, ""), (1.5, "1.5")):
        refuted = entry(FALSE, "refuted", tightness=ratio)
        assert tables(page(pack, run(refuted, entry(TRUE))))[0][2][3] == shown


def test_words_are_explained_that_occur(pack):
    words = [row[1] for row in tables(page(pack))[-1]]
    assert {"refuted", "certified", "holds", "exercised"} <= set(words)
    assert not {"proved", "symbolic", "weak"} & set(words)


def test_an_erratum_has_words_of_people_and_a_counterexample_that_was_confirmed(described):
    text = page(described(erratum()))
    assert "- **Printed.** it is $\\le 5$ | always\n" in text
    assert f"- **{LINK}.** Fails at `x = 6` (slack -1).\n" in text
    assert "- **Repair.** say $\\le 7$. (amended: holds.)\n" in text
    assert text.index("**Fails.**") < text.index("`x = 6`") < text.index("**Repair.**")
    assert text.count("#### here (`toy/") == 1


def test_each_sentence_is_told_once(described):
    for printed, told in (("", "[above](#here-toyb-2)"), ("it is <= 5", "b-2.")):
        text = page(described(erratum(printed=printed)))
        assert (f"- **{LINK}.** b-2. Fails" in text) == (not printed)
        assert [row[1] for row in tables(text)[0][2:]] == [told, "b-2.", "[above](#as-printed)"]
    assert "#### here (`toy/b-2`)\n\n5 is | too small\n\n- **Printed.**" in text
    assert "- **here** (`toy/b-10`), literal: holds. True.\n" in text


@pytest.mark.parametrize("ranked", [False, True])
def test_errata_are_ordered_by_rank_and_then_by_weight(described, pack, ranked):
    other = renamed(FALSE, "toy/b-10:literal")
    pack = replace(pack, claims=(pack.claims[0], pack.claims[1], other))
    second = {"statement": "toy/b-10", "weight": "claim", "gist": "it turns round"}
    ranks = {"ranks": {"theorem": ["toy/b-2"], "remark": ["toy/b-10"]}} if ranked else {}
    described(erratum(), erratum(**second, telling={"literal": 0}), **ranks)
    entries = entry(FALSE, "refuted"), entry(REPAIRED), entry(other, "refuted")
    text = page(pack, run(*entries))
    first, last = ("toy/b-2", "toy/b-10") if ranked else ("toy/b-10", "toy/b-2")
    assert f"### {Rank.THEOREM}\n\n#### here (`{first}`)\n\n" in text
    assert (f"### {Rank.REMARK}\n\n#### here (`{last}`)\n\n" in text) == ranked
    assert Rank.CLAIM not in text
    places = [text.index(words) for words in (f"(`{first}`)", f"(`{last}`)", "## Read")]
    assert places == sorted(places)


def test_what_is_printed_is_counted_by_rank_and_definitions_are_not(described, pack):
    described(erratum(), ranks={"claim": ["toy/b-2"], "definition": ["toy/b-10"]})
    text = page(pack)
    assert account(1, Fate.MENDED) in text
    said = f"{Fate.MENDED} (1): [b-2](#here-toyb-2).\n"
    assert f"- **{Rank.CLAIM}.** {said[:1].upper()}{said[1:]}" in text
    assert f"**{Rank.DEFINITION}.**" not in text
    strained = replace(pack.claims[0], fairness=Fairness.STRAINED)
    text = page(replace(pack, claims=(strained, *pack.claims[1:])))
    assert account(1, Fate.UNLIKE) in text
    assert f"- **{LINK}, strained.** Fails at" in text
    assert "Of the literal readings that fall, 1 strained;" in text


def test_a_telling_instance_comes_before_the_smallest_which_is_linked(described):
    pack = described(erratum(telling={"literal": 0}))
    text = page(pack)
    assert f"- **{LINK}.** Fails at `x = 27/2` (slack -8.5).\n" in text
    assert "x = 6" not in text


@pytest.mark.parametrize(
    ("example", "at"), [(0, "`x = 27/2` (slack -8.5)"), (2, "the same instance (slack -1)")]
)
def test_a_refuted_repair_is_shown_with_its_instance(described, pack, example, at):
    fallen = replace(pack.claims[0], id="toy/b-2:amended-2")
    pack = replace(pack, claims=(pack.claims[0], fallen))
    described(erratum(telling={"amended-2": example}))
    said = f"- **{LINK}.** Fails at `x = 6` (slack -1).\n- **amended-2.** Fails at {at}."
    assert said in page(pack, run(entry(FALSE, "refuted"), entry(fallen, "refuted")))


def test_a_refuted_reading_without_words_still_shows_its_counterexample(pack):
    text = page(pack)
    assert f"- **{LINK}.** b-2. Fails at `x = 6` (slack -1).\n" in text
    assert f"### {Rank.THEOREM}\n\n#### here (`toy/b-2`)\n\n- " in text


def test_nothing_refuted_is_no_erratum(pack):
    text = page(replace(pack, claims=(TRUE,)), run(entry(TRUE)))
    assert "No literal reading is refuted." in text
    assert f"1 statement in 1 reading. {account(1, Fate.STANDS)} A" in text


def test_an_instance_that_refutes_nothing_is_never_shown(described, pack):
    described(erratum(telling={"literal": 1}))
    with pytest.raises(ClaimError, match="no counterexample to toy/b-2:literal"):
        page(pack)
    described()
    keep(curated.place(pack.claims[0]), 5.0)
    with pytest.raises(ClaimError, match="no counterexample to toy/b-2:literal"):
        page(pack)
    conditional = replace(FALSE, hypotheses=toy_pack.vacuous.hypotheses, file=pack.claims[0].file)
    keep(curated.place(conditional), 6.0)
    with pytest.raises(ClaimError, match="it fails"):
        page(replace(pack, claims=(conditional,)))


@pytest.mark.parametrize("changes", [{"kind": "x"}, {"schema": 2}, {"instance": {"float": "six"}}])
def test_a_curated_file_that_cannot_be_read_is_an_error_of_our_own(pack, changes):
    keep(curated.place(pack.claims[0]), 6.0, **changes)
    with pytest.raises(FileError):
        page(pack)


@pytest.mark.parametrize(
    ("errata", "words", "cause"),
    [
        ([{"telling": {"literal-7": 0}}], {}, "toy/b-2 names an unknown reading (got literal-7)"),
        ([{"stands": ["amendd"]}], {}, "an unknown reading (got amendd). Nearest: amended."),
        ([{"telling": {"literal": 3}}], {}, "(got 3). It has 3, counted from 0."),
        ([{"statement": "toy/b-3"}], {}, "no such statement (got toy/b-3). Nearest: toy/b-2"),
        ([{"statement": 3}], {}, "lacks statement of the right form (got 3)"),
        ([{"weight": "heavy"}], {}, "has an unknown weight (got heavy). Known: claim, const"),
        ([{"gists": "x"}], {}, "has an unknown field (got gists). Nearest: gist"),
        ([{"stands": "amended"}], {}, "lacks stands of the right form (got amended)"),
        ([{}, {}], {}, "list a statement twice (got toy/b-2). Keep one of the two."),
        ([], {"order": ["sim/a"]}, "there is no such statement (got sim/a)"),
        ([], {"order": ["toy/b-2", "toy/b-2"]}, "list a statement twice"),
        ([], {"notes": "one"}, "the file lacks notes of the right form (got one)"),
        ([], {"ranks": {"lemma": ["toy/b-2"]}}, "the file has an unknown rank (got lemma)"),
        ([], {"ranks": {"theorem": ["sim/a"]}}, "there is no such statement (got sim/a)"),
        ([], {"ranks": {"theorem": "sim/a"}}, "the file lacks ranks of the right form"),
        ([], {"ordr": []}, "the file has an unknown field (got ordr). Nearest: order"),
        ([], {"source": 1}, "the file lacks source of the right form"),
    ],
)
def test_a_file_of_errata_that_fits_no_claim_is_refused(described, errata, words, cause):
    pack = described(*(erratum(**changes) for changes in errata), **words)
    with pytest.raises(FileError, match=re.escape(cause)):
        page(pack)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("source = 'toy'\n[[errata]]\nstatement = 'toy/b-2'", "of toy/b-2 lacks weight"),
        ("order = []", "the file lacks source"),
        ("source = ", "cannot be read as TOML"),
        ("\0", "cannot be read as TOML"),
    ],
)
def test_a_file_of_errata_that_is_not_whole_is_refused(described, text, cause):
    pack = described()
    (pack.folder / "errata" / "toy.toml").write_text(text)
    with pytest.raises(FileError, match=cause):
        page(pack)


def test_the_words_on_a_source_may_lie_in_several_files_beside_those_on_others(described):
    pack = described(erratum())
    (pack.folder / "errata" / "a.toml").write_text("source = 'toy'\norder = ['toy/b-10']")
    (pack.folder / "errata" / "b.toml").write_text("source = 'tox'\nnotes = ['no word']")
    text = page(pack)
    assert "no word" not in text
    assert r"it is $\le 5$ | always" in text
    assert text.index("b-10, here<br>") < text.index("b-2, here<br>")


def test_an_unknown_source_or_a_run_on_other_things_is_a_usage_error(pack):
    with pytest.raises(UsageError, match="There are: toy"):
        source_page("toys", [pack], run(), Path("x.md"))
    with pytest.raises(UsageError, match="attsvm verify toy/"):
        page(pack, run(entry(toy_pack.numeric)))


def test_what_has_no_verdict_is_not_said_to_stand(pack):
    text = page(pack, run(entry(REPAIRED)))
    assert "No literal reading is refuted, but 2 of 2 have no verdict." in text
    assert account(2, Fate.OPEN).replace(": 1.", ": 2.") in text


def test_a_statement_stands_where_all_its_literal_readings_do(pack):
    readings = tuple(renamed(toy_pack.true, f"toy/b-10:literal-{k}") for k in (1, 2))
    pack = replace(pack, claims=readings)
    assert account(1, Fate.STANDS) in page(pack, run(*map(entry, readings)))
    assert account(1, Fate.OPEN) in page(pack, run(entry(readings[0])))


def test_a_statement_without_a_literal_reading_is_counted_apart(pack):
    text = page(replace(pack, claims=(TRUE, REPAIRED)), run(entry(TRUE), entry(REPAIRED)))
    assert account(1, Fate.STANDS) in text
    assert "Of our own, without a literal reading: 1." in text
    assert "Of our own" not in page(pack)


def test_a_verdict_is_compared_with_what_was_expected_whatever_the_ledger_says_of_it(pack):
    want = {"truth": "holds", "evidence": "numeric", "validity": "exercised"}
    for axis, word in (("truth", "refuted"), ("evidence", "none"), ("validity", "weak")):
        odd = entry(TRUE, **{axis: word}, as_expected=True, expected=want)
        assert f"Not as expected: {TRUE.id}" in page(pack, run(odd))
    assert "Not as expected" not in page(pack, run(entry(TRUE, as_expected=True, expected=want)))


def test_no_erratum_without_an_instance_that_refutes_a_literal_reading(described):
    pack = described(erratum())
    assert "**Fails.**" in page(pack)
    curated.place(pack.claims[0]).unlink()
    text = page(pack)
    assert "**Refuted in the run, and by no instance here: toy/b-2.**" in text
    assert "**Fails.**" not in text
    assert "**Printed.**" not in text
    odd = run(entry(TRUE, "refuted"))
    assert "by no instance here: toy/b-10.**" in page(pack, odd)


def test_notes_and_symbols_of_a_source_are_shown(described):
    pack = described(notes=["For\n<all> of you."], notation={"L_X": "a | b"})
    text = page(pack)
    assert text.index("For &lt;all&gt; of you.") < text.index("### ")
    assert ["$L_{X}$", "$a$ \\| $b$"] in tables(text)[0]
    assert text.index("## Words and symbols") < text.index("## What falls")
    standing = page(replace(pack, claims=pack.claims[2:]), run(entry(TRUE)))
    assert "For" not in standing
    assert ["$L_{X}$", "$a$ \\| $b$"] in tables(standing)[0]


def test_what_is_wrong_with_a_run_is_said_first(pack):
    file = "mine/counterexamples/toy--b-2--literal.json"
    stands = {file: {"file": file, "result": "CONFIRMED"}}
    assert "**NOT REPLAYED" in page(pack)
    assert "\n**" not in page(pack, run(replays=stands)).partition("## Readings")[0]
    fallen = {file: {"file": file, "result": "NOT CONFIRMED"}}
    want = {"truth": "refuted", "evidence": "certified", "validity": "exercised"}
    odd = entry(TRUE, as_expected=False, expected=want)
    text = page(
        pack, run(odd, finished=False, damaged=2, replays=fallen, faults=("a line is odd",))
    )
    head = text.partition("## Readings")[0]
    assert f"**NOT CONFIRMED: {file}.**" in head
    assert "The run did not finish." in head
    assert "2 lines of its record cannot be read." in head
    assert "A line is odd." in head
    assert "Without a verdict: toy/b-2:literal, toy/b-2:amended." in head
    assert "Not as expected: toy/b-10:literal, expected refuted / certified / exercised." in head
    assert tables(text)[0][2][2] == "not run"


def test_the_same_run_gives_the_same_bits_and_its_times_are_not_among_them(tmp_path, pack):
    texts = set()
    for seconds in (0.1, 2.5):
        with Ledger(tmp_path / f"l{seconds}") as ledger:
            verify([replace(pack, claims=pack.claims[::2])], ledger=ledger)
            for e in map(json.loads, (tmp_path / f"l{seconds}").read_text().splitlines()):
                if e["event"] == "verdict":
                    ledger.append("verdict", verdict={**e["verdict"], "seconds": seconds})
        shown = last_run(tmp_path / f"l{seconds}")
        texts.add(page(pack, shown))
        backwards = dict(reversed(shown.verdicts.items()))
        texts.add(page(pack, replace(shown, verdicts=backwards)))
    assert len(texts) == 1


def test_links_lead_to_files_from_wherever_the_page_lies(pack):
    for place in ("toy.md", "docs/toy.md", "a b/c/toy.md"):
        text = page(pack, place=place)
        (pack.folder.parent / place).parent.mkdir(parents=True, exist_ok=True)
        (pack.folder / "toys.py").write_text("")
        links = [x for x in re.findall(r"\]\(([^)]*)\)", text) if not x.startswith("#")]
        assert len(links) == 4
        for link in links:
            assert ((pack.folder.parent / place).parent / unquote(link)).is_file()


TEXT = st.text("a_*`~<>[]()|\\$&#;!+-=.1/x^ \n:", max_size=12) | st.text(
    st.characters(exclude_categories=["Cc", "Cs"]), max_size=12
)
HARMLESS = {
    *("h1", "h2", "h3", "h4", "p", "ul", "li", "sub", "sup", "a", "code", "pre", "strong", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class _Reader(HTMLParser):
    """Keeps tags, and the text of every cell of a table's body."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.cells = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def rendered(text):
    """The tags and cells of the page as readers of Markdown show it, without its mathematics."""
    reader = _Reader()
    marks = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    reader.feed(marks.render(re.sub(r"(?<!\\)\$[^$]+(?<!\\)\$", "MATH", text)))
    return reader.tags, reader.cells


@example("\ud7fcA", "|")
@given(TEXT, st.sampled_from(["|", "`x`", "<script>", "\\|", "a\n| b |", "**", "", "\n```\n"]))
def test_what_a_claim_says_never_breaks_the_page(word, mark):
    said = f"{word}{mark}{word}"
    stands = replace(toy_pack.true, compose=lambda: said, place=said, source=said)
    claim = replace(stands, id="toy/true:sharp")
    text = source_page("toy", [Pack("toys", (claim,), Path("."))], run(entry(claim)), Path("x.md"))
    shapes = [(len(table), len(table[0])) for table in tables(text)]
    assert shapes == [(3, 5), (11, 3)]
    assert len(re.findall("^#", text, re.M)) == 4
    tags, cells = rendered(text)
    assert tags <= HARMLESS
    shown = printable(" ".join(said.split()))
    expected = "".join("MATH" if latex else str(sentence(p)) for latex, p in pieces(shown))
    assert cells[1].split() == unescape(re.sub(r"</?su[bp]>", "", expected)).split()
    assert cells[0].split() == f"true, {shown}sharp".split()
    text = source_page("toy", [Pack("toys", (stands,), Path("."))], run(entry(stands)), Path("x"))
    assert len(re.findall("^#", text, re.M)) == 6
    assert rendered(text)[0] <= HARMLESS


@given(
    st.fixed_dictionaries(
        {
            "truth": st.sampled_from(["refuted", "holds", "proved", "", "|", "<b>"]),
            "tightness": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "examples": st.integers(-3, 10**300),
            "as_expected": st.booleans(),
            "expected": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        }
    )
)
def test_any_entry_that_a_ledger_may_hold_is_shown(changes):
    claims = (toy_pack.false, toy_pack.true)
    shown = run(entry(claims[0], **changes), entry(claims[1]), profile="|", damaged=1)
    text = source_page("toy", [Pack("toys", claims, Path("."))], shown, Path("x.md"))
    assert len(tables(text)[0]) == 4


def test_the_command_writes_the_page_beside_the_html_one(attsvm):
    assert attsvm("verify", *TOYS, "toy/true", "toy/equality", "--ledger", "l")[0] == 0
    code, out, _ = attsvm("report", *TOYS, "--source", "toy", "--ledger", "l")
    assert (code, out) == (0, "2 verdicts of the last run on it: attsvm-toy.md\n")
    whole = Path("attsvm-toy.md").read_text()
    assert whole.startswith("# toys\n")
    words = ["--source", "toy", "--out", "y.md", "--json", "-"]
    code, out, _ = attsvm("report", *TOYS, "--ledger", "l", *words)
    document = json.loads(out)
    assert (document["source"], document["page"]) == ("toy", "y.md")
    assert Path("y.md").read_text() == whole
    code, out, _ = attsvm("report", *TOYS, "--ledger", "l")
    assert (code, out) == (0, "2 verdicts of the last run: attsvm-report.html\n")


def test_the_command_tells_what_is_wrong_and_writes_nothing(attsvm):
    assert attsvm("verify", *TOYS, "toy/true", "--ledger", "l")[0] == 0
    for words in (["--source", "nothing"], ["--source", "sim"], ["--source", ""]):
        code, out, error = attsvm("report", *TOYS, *words, "--ledger", "l", "--out", "x.md")
        assert (code, out) == (2, "")
        assert "internal" not in error
    for line in ('{"schema": 1, "event": "verdict", "verdict": {"id": 3}}', '{"schema": 1, "ev'):
        cut = [x for x in Path("l").read_text().splitlines() if '"verdict"' not in x]
        Path("m").write_text("\n".join([*cut, line]))
        words = ["--source", "toy", "--ledger", "m", "--out", "x.md"]
        code, out, error = attsvm("report", *TOYS, *words)
        assert (code, out) == (2, "")
        assert "internal" not in error
    assert not Path("x.md").exists()

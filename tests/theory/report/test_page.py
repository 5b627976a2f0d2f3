"""The page holds all of a run, is well-formed, and lets nothing through that would run."""

import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import pytest
import toy_pack
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from attsvm.theory.declaration.verdict import BY_INSTANCES
from attsvm.theory.packs.packs import Pack, find_claims, load_packs
from attsvm.theory.record import curated
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import Run, last_run
from attsvm.theory.report.html import ShownFigure, page
from attsvm.theory.report.rendering import FOLDER, anchor, sentence, text
from attsvm.theory.verification.verify import verify

SCRIPT = (FOLDER / "page.js").read_text()
STYLE = (FOLDER / "page.css").read_text()
SVG = "xmlns='http://www.w3.org/2000/svg'"
_VOID = {"meta", "br", "input", "img", "!doctype"}
_PICTURE = re.compile(r'src="data:image/png;base64,[A-Za-z0-9+/=]+"')


class _Reader(HTMLParser):
    """Keeps the text, ids and links, and complains of tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.ids, self.links, self.given = [], [], [], [], {}
        self.tags, self.columns = set(), [0]

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.columns += [0] if tag in ("tr", "table") else []
        self.columns[-1] += tag in ("td", "th")
        if tag not in _VOID:
            self.open.append(tag)
        assert len(dict(attrs)) == len(attrs)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "src" or value == "a picture"
            assert name not in ("srcset", "style", "action", "background")
            assert "://" not in (value or "") or name == "xmlns"
            self.given.setdefault(name, []).append(value)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr" and self.columns[-2]:
            assert self.columns[-1] == self.columns[-2]  # as many cells as the row above

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)


def read(shown):
    shown = _PICTURE.sub('src="a picture"', shown)
    reader = _Reader()
    reader.feed(shown)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    inside = {link[1:] for link in reader.links if link.startswith("#")}
    assert inside | set(reader.given.get("data-copy", [])) <= set(reader.ids)
    assert shown.count("<script") == 1
    assert SCRIPT in shown
    assert not re.search(
        r"url\(|@import|https?:|//[a-z]", shown.replace(SCRIPT, "").replace(SVG, "")
    )
    return reader


def words(shown):
    return " ".join("".join(read(shown).text).split())


TOYS = (Pack("toys", (toy_pack.true, toy_pack.false, toy_pack.vacuous), Path(".")),)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """The record of a run of three claims."""
    found = tmp_path_factory.mktemp("run") / "ledger.jsonl"
    with Ledger(found) as writer:
        verify(TOYS, ledger=writer)
    return found


@pytest.fixture(scope="module")
def run(ledger):
    return last_run(ledger)


def entry(id, truth="holds", **more):
    verdict = {"truth": truth, "evidence": "numeric", "validity": "exercised"}
    known = {"statement": "x", "siblings": [], "examples": 3, "as_expected": True}
    return {"id": id, **verdict, **known, **more}


def made(*entries, **more):
    return Run("quick", 0, tuple(e["id"] for e in entries), {e["id"]: e for e in entries}, True, 0,
               **more)  # fmt: skip


def test_all_of_a_run_is_on_its_page(run):
    for packs in ((), TOYS):
        said = words(page(run, packs))
        for claim in TOYS[0].claims:
            assert claim.id in said
            assert claim.statement in said
        assert "3 readings, checked on" in said
        assert "1 not as expected" in said
        assert re.search(r"0 of \d+", said)
        assert re.search("shift 100 ?refuted by", said)
        assert "No instance refuted it so far; that is no proof." in said
        assert re.search(r"The check: ?\d+ instances", said)


def test_a_proof_in_prose_is_marked_on_the_page_and_a_linked_one_is_not():
    proof = {"proof": "x", "steps": ["one"]}
    prose = words(page(made(entry("a/x:sharp", **proof)), ()))
    assert "proof in prose, 1 step" in prose
    assert "text connects them, so that the reading is not proved" in prose
    linked = words(page(made(entry("a/x:sharp", "proved", linked=True, **proof)), ()))
    assert "in prose" not in linked
    assert "proof, 1 step" in linked
    assert BY_INSTANCES not in linked


def test_a_proved_bound_whose_sharpness_rests_on_instances_is_marked_on_the_page():
    sharp = {"statement": "x <= 2. No smaller constant will do.", "proof": "x", "linked": True}
    said = words(page(made(entry("a/x:sharp", "proved", **sharp)), ()))
    assert BY_INSTANCES in said
    assert "No fact says that no smaller constant will do" in said
    refuted = words(page(made(entry("a/x:sharp", "refuted", **sharp)), ()))
    assert BY_INSTANCES not in refuted


def test_a_statement_links_its_file_its_proof_and_the_drawing():
    names = ("sim/lemma-3.12:literal", "sim/lemma-3.13:sharp")
    shown = made(*(entry(name, "proved", proof="x", steps=["one"]) for name in names))
    links = read(page(shown, load_packs())).links
    files = {link for link in links if not link.startswith("#")}
    for room in ("properties", "symbolic"):
        assert any(link.endswith(f"{room}/sim/lemma_3_13.py") for link in files)
    assert "#graph:sim" in links


def test_a_check_lies_under_one_line_unless_it_leaves_a_doubt(run):
    """That of the claim of which nothing was checked lies open."""
    checks = re.findall(r'<details class="check"( open)?><summary>The check: ', page(run))
    assert sorted(checks) == ["", "", " open"]


@pytest.mark.parametrize("open_", [[], ["x > 0"]])
def test_hypotheses_say_whether_they_are_needed_where_that_was_asked(open_):
    reading = entry("toy/a:literal", hypotheses={"x > 0": 2}, not_shown_to_be_needed=open_)
    shown = page(made(reading))
    read(shown)  # as many cells in every row
    assert bool(re.search("<th[^>]*>needed<", shown)) is bool(open_)


@pytest.mark.parametrize("formulas", [("x < 1", "x < 1"), ("x < 1", "x < 2")])
def test_formulas_are_told_apart_by_their_readings_where_they_differ(formulas):
    ran = [{"conclusion": {"plain": f}} for f in formulas]
    names = "amended", "literal"
    told = made(*(entry(f"toy/a:{n}", formula=f) for n, f in zip(names, ran, strict=True)))
    (shown,) = re.findall(r'aria-label="formulas">(.*?)<section', page(told), re.S)
    several = len(set(formulas)) > 1
    assert re.findall(r'<p class="soft">(.*?)</p>', shown) == [*names] * several


def test_the_run_says_when_and_on_what_it_was_made(run):
    assert {"date", "commit", "machine", "attsvm", "python", "numpy"} <= set(run.about)
    said = words(page(run))
    assert all(value in said for value in run.about.values())


ALL = ("a/x:literal", "a/x:sharp", "a/z:literal", "b/y:literal")


@pytest.mark.parametrize(
    ("ran", "named"),
    [
        (ALL, ""),
        (ALL[:3], " a/"),
        (ALL[:2], " a/x"),
        (ALL[1:2], " a/x:sharp"),
        (ALL[1:], " a/x:sharp a/z b/"),
    ],
)
def test_the_command_that_runs_it_again_names_what_ran_and_no_more(ran, named):
    claims = tuple(replace(toy_pack.true, id=id) for id in ALL)
    said = words(page(made(*map(entry, ran)), (Pack("toys", claims, Path(".")),)))
    assert said.endswith(f"Again: attsvm verify --profile quick --seed 0{named}")


HOSTILE = ("</script><script>x()</script>", '"><img src=x onerror=x()>', "' onload='x()", "]]>-->",
           "<svg/onload=x()>", "&lt;b&gt;", "\x1b[31m\u202e", "$\\evil{}$")  # fmt: skip


@pytest.mark.parametrize("evil", HOSTILE)
def test_what_a_record_says_is_text_and_never_markup(evil):
    line = {"latex": evil, "plain": evil}
    formula = {"conclusion": line, "hypotheses": {evil: line}, "where": [line]}
    sibling = {"name": evil, "refuted": True, "found_by": evil, "evidence": evil, "examples": 1}
    shown = page(
        made(
            entry(
                f"{evil}/{evil}:{evil}", evil, evidence=evil, validity=evil, statement=evil,
                formula=formula, place=evil, reason=evil, hypotheses={evil: 1}, siblings=[sibling],
                proof=evil, steps=[evil], warnings=[evil], counterexample=evil, coverage={evil:
                {evil: 1}}, needed={evil: {"found_by": evil, "evidence": evil}}, broke=1,
                broke_note=evil, not_shown_to_be_needed=[evil], as_expected=False,
                expected={"truth": evil, "evidence": evil, "validity": evil},
            ),
            replays={evil: {"file": evil, "result": evil, "reason": evil}}, about={evil: evil},
            faults=(evil,),
        ),
    )  # fmt: skip
    reader = read(shown)
    said = "".join(reader.text)
    assert str(escape(text(evil))) in shown
    assert evil in said or not evil.isprintable()
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "img" not in reader.tags
    assert shown.count("<svg") == 1  # the bar of verdicts


@given(st.text(), st.text())
def test_names_of_different_things_are_different_anchors(a, b):
    assert (anchor(a) == anchor(b)) == (a == b)
    assert re.fullmatch(r"[A-Za-z0-9/:._~-]*", anchor(a))


def test_ids_of_several_sources_and_their_filters():
    entries = [entry("a/x:literal", "refuted"), entry("a/x:sharp", "proved"), entry("b/y:literal")]
    reader = read(page(made(*entries)))
    assert {"a/x", "a/x:literal", "b/y", "source:a", "source:b", "run"} <= set(reader.ids)
    assert reader.given["data-truth"] == ["proved refuted", "holds"]
    assert reader.given["data-source"] == ["a", "b"]
    assert "printed-falls" in reader.given["data-mark"][0]
    only = read(page(made(*entries), only="b"))
    assert "b/y" in only.ids
    assert "a/x" not in only.ids


def test_a_claim_that_is_known_adds_what_its_record_does_not_hold():
    literal, id = "sim/theorem-3.14-part-2:literal", "sim/theorem-3.14-part-2:amended-1"
    run = made(entry(literal, "refuted"), entry(id, "refuted"), entry("sim/lemma-3.13:sharp"))
    reader = read(page(run, load_packs()))
    said = "".join(reader.text)
    for kind in ("numpy", "python", "latex", "json"):
        assert f"{id}:{kind}" in reader.ids
    file = "properties/sim/counterexamples/sim--theorem-3.14-part-2--amended-1.json"
    assert f"attsvm replay {file}" in said
    checked = made(entry("tf/lemma-2:literal", "refuted"))
    has = [i for i in read(page(checked, load_packs())).ids if i.endswith(":verifier")]
    assert has == ["tf/lemma-2:literal:verifier"]
    drawing = "What rests on what"  # of these three, part 2 of the theorem rests on the lemma
    assert drawing in said
    assert drawing not in words(page(checked, load_packs()))
    assert "As printed" in said
    assert "Rests on: " in said
    assert "polyline" in reader.tags
    assert "properties/sim/theorem_3_14_part_2/__init__.py" in " ".join(reader.links)
    turned = "What overturns a theorem or a claim"
    assert turned in said
    assert turned not in words(page(made(entry(literal), entry(id, "refuted")), load_packs()))


def test_figures_are_within_the_page_with_what_they_conclude_and_how_they_are_made():
    content = b"\x89PNG\r\n\x1a\n<script>"
    figure = ShownFigure(
        "toy/<b>", "slide 3", "points & lines", ("all: they meet.",), "attsvm reproduce toy/<b>",
        (("", content), ("again", content)),
    )  # fmt: skip
    shown = page(made(entry("toy/x:literal")), figures=[figure])
    assert shown.count(f"base64,{b64encode(content).decode()}") == 2
    assert read(shown).given["alt"] == ["toy/<b>: points & lines", "toy/<b>, again: points & lines"]
    said = words(shown)
    assert "toy/<b> (slide 3) Points & lines. all: they meet. Again: attsvm reproduce" in said
    assert anchor("figure:toy/<b>") in read(shown).ids
    assert "#figures" in read(shown).links
    assert "Figures" not in words(page(made(entry("toy/x:literal"))))


def test_a_counterexample_of_another_claim_is_not_shown(tmp_path):
    file = tmp_path / "x.json"
    stored = curated.place(
        next(c for c in find_claims(load_packs()) if c.id == "sim/lemma-3.13:literal")
    )
    file.write_text(stored.read_text())
    fallen = entry("sim/lemma-3.12:literal", "refuted", counterexample=str(file))
    shown = page(made(fallen), load_packs())
    assert "sim/lemma-3.12:literal:python" not in read(shown).ids


def test_a_curated_counterexample_that_does_not_stand_is_named():
    run = made(entry("a/b:literal"))
    assert "every verdict as expected" in words(page(run))
    fallen = {"file": "a.json", "result": "ERROR", "reason": "is <cut>"}
    stands = {"file": "c.json", "result": "CONFIRMED", "reason": "as before"}
    replays = {"a.json": fallen, "c.json": stands}
    said = words(page(replace(run, curated=("b.json", "c.json"), replays=replays)))
    assert "but 2 curated counterexamples were not confirmed" in said
    assert "ERROR: a.json is <cut>" in said
    assert "NOT REPLAYED: b.json" in said
    assert "c.json" not in said


def test_a_run_that_was_cut_short_says_so(ledger, tmp_path):
    lines = ledger.read_text().splitlines()
    kept = [line for line in lines if '"verdict"' not in line or "toy/false" not in line]
    cut = tmp_path / "ledger.jsonl"
    cut.write_text("\n".join(line for line in kept if '"finished"' not in line) + '\n{"sch')
    said = words(page(last_run(cut)))
    assert "the run did not finish" in said
    assert "1 damaged line in" in said
    assert "Without a verdict: toy/false:literal" in said


def test_all_that_is_wrong_with_a_record_is_told():
    run = made(entry("a/b:c"), faults=("it mixes two runs", "it repeats a reading"))
    assert "It mixes two runs It repeats a reading" in words(page(run))


def _light(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("ground", [0, 1])
def test_every_text_is_legible_on_every_ground_that_it_is_set_on(ground):
    """On light and on dark paper."""
    roots = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", roots[ground]))
    pairs = [*product(("ink", "soft", "link"), ("paper", "card", "mark"))]
    pairs += [(word.removesuffix("-bg"), word) for word in colours if word.endswith("-bg")]
    assert len(pairs) == 14
    for text_, ground in pairs:
        a, b = sorted((_light(colours[text_]), _light(colours[ground])))
        assert (b + 0.05) / (a + 0.05) >= 4.5, (text_, ground)


def test_the_contents_list_every_statement_with_how_it_stands():
    falls = [entry("a/falls:literal", "refuted"), entry("a/falls:amended", "proved")]
    told = [entry("a/mends:amended", "refuted"), entry("a/mends:sharp", "proved")]
    shown = page(made(*falls, entry("b/stands:literal", "proved"), *told))
    contents = re.findall(r'<a href="#([^"]*)"><span class="dot (\w+)" title="(\w+)">', shown)
    assert contents == [
        ("a/falls", "refuted", "refuted"),
        ("a/mends", "refuted", "refuted"),
        ("b/stands", "proved", "proved"),
    ]
    missing = page(made(entry("a/x:literal", "proved"), entry("a/x:literal-2", "odd")))
    assert '<span class="dot proved" title="proved">' in missing


def test_a_page_of_many_claims_stays_small():
    entries = [entry(f"s/lemma-{k}:literal") for k in range(500)]
    small, large = (len(page(made(*entries[:n]))) for n in (1, 500))
    assert large - small < 500 * 6000


def test_sentences_are_typeset_and_escaped():
    said = sentence("||X^mm||_F <= R^(2 n) - x_t^T y for <b> & z_{i+1}, lim_k s^-1 -> 0")
    assert said == (
        "‖X<sup>mm</sup>‖<sub>F</sub> ≤ R<sup>2 n</sup> − x<sub>t</sub><sup>T</sup> y for "
        "&lt;b&gt; &amp; z<sub>i+1</sub>, lim<sub>k</sub> s<sup>-1</sup> → 0"
    )
    said = sentence("<W, X^mm> < alpha_i and eta > 0, beta, as gamma_it -> infinity; a < b, c > d")
    assert said == (
        "⟨W, X<sup>mm</sup>⟩ &lt; α<sub>i</sub> and η &gt; 0, β, as γ<sub>it</sub> → ∞; "
        "a &lt; b, c &gt; d"
    )
    assert sentence("Y_i x_i,beta_i") == "Y<sub>i</sub> x<sub>i,β<sub>i</sub></sub>"
    assert sentence("metal beta2 <script, x>") == "metal beta2 ⟨script, x⟩"
    assert sentence(said) == said

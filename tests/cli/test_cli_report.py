"""`attsvm report` writes the page that was asked for, and says what differs from an earlier run."""

import json
from pathlib import Path

import pytest
from commands import TOYS

from attsvm.theory.record.ledger import chained


def test_a_page_of_a_source_is_html_where_its_name_says_so(attsvm, ran):
    assert attsvm("report", *TOYS, "--source", "toy", "--out", "toy.html")[0] == 0
    assert attsvm("report", *TOYS, "--source", "toy", "--out", "toy.md")[0] == 0
    assert attsvm("report", *TOYS, "--source", "toy")[0] == 0
    assert Path("toy.html").read_text().startswith("<!doctype html>")
    assert Path("toy.md").read_text().startswith("# ")
    assert Path("attsvm-toy.md").read_text() == Path("toy.md").read_text()
    code, _, error = attsvm("report", *TOYS, "--source", "toys", "--out", "toy.html")
    assert (code, "There are: " in error) == (2, True)


@pytest.mark.parametrize(
    "words", [["--out", "run.md"], ["--out", "run.pdf"], ["--source", "toy", "--out", "toy.pdf"]]
)
def test_a_page_of_another_format_is_an_error(attsvm, ran, words):
    code, _, error = attsvm("report", *TOYS, *words)
    assert (code, "Name it like page.html with --out." in error) == (2, True)
    assert not Path(words[-1]).exists()


@pytest.mark.parametrize("out", ["page.html", "page.md"])
def test_a_page_of_an_edited_record_or_of_other_code_says_so(attsvm, ran, out):
    ledger = Path(".attsvm/ledger.jsonl")
    words = ("report", *TOYS, *(["--source", "toy"] if out.endswith(".md") else []), "--out", out)
    assert attsvm(*words)[::2] == (0, "")
    told = "does not fit: that line was edited"
    text = ledger.read_text()
    ledger.write_text(text.replace('"evidence": "numeric"', '"evidence": "symbolic"'))
    assert told in attsvm(*words)[2]
    assert told in Path(out).read_text().partition("Readings")[0]
    lines = [json.loads(line) for line in text.splitlines()]
    lines[0]["code"]["attsvm/errors.py"] = "0" * 12
    before = ""
    for event in lines:
        del event["digest"]
        event["digest"] = before = chained(before, event)
    ledger.write_text("".join(json.dumps(event) + "\n" for event in lines))
    told = "he run is of other code than is checked out: 1 file differs, attsvm/errors.py"
    assert told in attsvm(*words)[2]
    assert told in Path(out).read_text().partition("Readings")[0]


def test_links_to_files_lead_from_where_the_page_lies(attsvm, ran):
    Path("deep/er").mkdir(parents=True)
    assert attsvm("report", *TOYS, "--out", "deep/er/page.html")[0] == 0
    shown = Path("deep/er/page.html").read_text()
    links = [part.partition('"')[0] for part in shown.split('href="')[1:]]
    files = [Path("deep/er", link) for link in links if not link.startswith("#")]
    assert files
    assert all(file.is_file() for file in files)


def test_verdicts_of_earlier_runs_are_told_apart_from_those_of_the_last(attsvm, ran):
    code, out, _ = attsvm("report", *TOYS, "--out", "page.html")
    assert (code, out) == (0, "1 verdict of the last run: page.html\n")
    assert attsvm("verify", *TOYS, "toy/tie")[0] == 0
    code, out, _ = attsvm("report", *TOYS, "--out", "page.html")
    more = "1 more on the page, of earlier runs of the same code, profile and seed"
    assert (code, out) == (0, f"1 verdict of the last run: page.html\n{more}\n")
    shown = Path("page.html").read_text()
    assert "toy/true:" in shown
    assert "toy/tie:" in shown


def test_figures_of_a_folder_are_on_the_page(attsvm, ran):
    document = {"figure": "toy/line", "place": "here", "shows": "a line", "seed": 0, "sets": None,
                "facts": {}, "pictures": []}  # fmt: skip
    Path("drawn").mkdir()
    Path("drawn/toy-line.json").write_text(json.dumps(document))
    assert attsvm("report", *TOYS, "--figures", "drawn", "--out", "page.html")[0] == 0
    assert "A line." in Path("page.html").read_text()
    code, _, error = attsvm("report", *TOYS, "--figures", "absent")
    assert (code, "there is no figure in absent" in error) == (2, True)
    assert "attsvm reproduce NAME --out absent" in error
    code, _, error = attsvm("report", *TOYS, "--source", "toy", "--figures", "drawn")
    assert (code, "Name it like page.html" in error) == (2, True)

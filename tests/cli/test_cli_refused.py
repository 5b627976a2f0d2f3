"""Arguments that a command refuses: exit code 2, and one line that says what is wrong."""

import re

import pytest
from commands import TOYS

CLAIM = "toy/true:literal"
NO_SEARCHER = r"there is no searcher of that name \(got foo\). There are: explicit, "
REFUSED = [
    (["nonsense"], ""),
    (["verfy"], "Did you mean verify\\? See `attsvm --help`."),
    (["verify", "--profile", "fast"], ""),
    (["verify", "--profile", "quik"], "Did you mean quick\\? See"),
    (["verify", "--profil", "quick"], "Did you mean --profile\\? See `attsvm verify --help`."),
    (["verify", *TOYS, "--profle", "deep"], "Did you mean --profile"),
    (["verify", "--seed", "x"], ""),
    (["verify", "tf/lemma-2", "--seed"], ""),
    (["verify", "-n", "0"], ""),
    (["verify", "-n", "two"], ""),
    (["verify", "--unheard-of"], ""),
    (["verify", *TOYS, "toy/tru"], "Nearest: .*toy/true"),
    (["verify", *TOYS, "toy/tru:literal"], f"Nearest: .*{CLAIM}"),
    (["verify", "mine/lemma.py"], "--pack mine/lemma.py, which brings the claims of a file."),
    (["hunt"], ""),
    (["hunt", "--only-packs", "a.py", "b"], "Did you mean --only-pack\\?"),
    (["hunt", *TOYS, "toy/tru:literal"], f"Nearest: .*{CLAIM}"),
    (["hunt", *TOYS, CLAIM, "--sede", "3"], "Did you mean --seed"),
    (["hunt", *TOYS, CLAIM, "--sibling", "shift 10"], "Nearest: .*shift 100"),
    (["hunt", "toy/true", "--seconds", "0"], ""),
    (["hunt", "toy/true", "--seconds", "nan"], ""),
    (["hunt", "toy/true", "--seconds", "inf"], ""),
    (["hunt", "toy/true", "--seconds", "1e9"], ""),
    (["hunt", "toy/true", "--searchers", ""], ""),
    (["hunt", "toy/true", "--searchers", "drawn,"], ""),
    (["hunt", *TOYS, CLAIM, "--searchers", "foo"], NO_SEARCHER + ".*gradient"),
    (["hunt", *TOYS, CLAIM, "--searchers", "drawn,foo"], NO_SEARCHER + ".*ensemble.*drawn"),
    (["hunt", *TOYS, CLAIM, "--searchers", "foo,integers"], NO_SEARCHER + ".*screen.*sizes"),
    (["hunt", *TOYS, CLAIM, "--searchers", "screen,integers"], "Add drawn"),
    (["replay"], ""),
    (["kernel", "--out", "kept"], "Add --proofs"),
    (["solve"], ""),
    (["solve", "a.npz", "--norm", "l7"], ""),
    (["claims", "--pack", "nowhere.py"], ""),
    (["claims", "--pack", "no.such.module"], ""),
    (["claims", "sim/lema-3.12"], "Nearest: "),
    (["show", "sim/lema-3.12"], "Nearest: "),
    (["show", "sim/"], "statements begin like that"),
    (["new", "Mine/a"], "such as mine/lemma-1"),
    (["new", "mine"], "such as mine/lemma-1"),
    (["new", "mine/a:literal"], "such as mine/lemma-1"),
    (["new", "mine/a", "--out", "mine.txt"], "ends in .py"),
    (["gate", "--ledger", "nowhere.jsonl"], ""),
    (["reproduce", "--sets", "0"], ""),
    (["reproduce", "--seed", "-1"], ""),
    (["reproduce", "--seed", "x"], ""),
    (["reproduce", "tf/probabilities", "again"], ""),
]


@pytest.mark.parametrize(("words", "cause"), REFUSED, ids=str)
def test_what_is_refused_exits_with_two_and_one_line(attsvm, tmp_path, words, cause):
    code, out, error = attsvm(*words)
    assert (code, out) == (2, "")
    assert re.match(f"attsvm: .*{cause}", error)
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())

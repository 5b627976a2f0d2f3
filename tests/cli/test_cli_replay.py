"""`attsvm replay` tells confirmed from tampered from foreign."""

import json
import shlex

from commands import TOYS


def test_replay_tells_confirmed_from_tampered_from_foreign(attsvm, document, tmp_path):
    attsvm("hunt", *TOYS, "toy/false:literal", "--rounds", "2", "--out", "found")
    good = tmp_path / "found" / "toy--false--literal.json"
    stored = json.loads(good.read_text())
    (tmp_path / "empty").mkdir()
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**stored, "instance": {"float": "1"}}))
    (tmp_path / "foreign.json").write_text("{}")
    (tmp_path / "cut.json").write_text(good.read_text()[:100])
    (tmp_path / "future.json").write_text(json.dumps({**stored, "schema": 99}))
    files = [good, bad, "foreign.json", "cut.json", "future.json", "none.json", tmp_path / "empty"]
    code, found = document("replay", *TOYS, *files)
    assert (code, found["confirmed"]) == (2, False)
    assert [f["result"] for f in found["files"]] == ["CONFIRMED", "NOT CONFIRMED", *["ERROR"] * 5]
    assert attsvm("replay", *TOYS, good)[0] == 0
    for k, file in enumerate(files):
        assert attsvm("replay", *TOYS, file)[0] == min(k, 2)  # 2: it cannot be read
    code, out, _ = attsvm("replay", good)
    assert (code, "name it with --pack." in out) == (2, True)
    code, out, _ = attsvm("replay", *TOYS, "toy/false:literal")
    assert (code, "toy/false:literal says where its file is" in out) == (2, True)
    code, out, _ = attsvm("replay", *TOYS, good, bad)
    again = shlex.join(["attsvm", "replay", *map(str, TOYS), str(bad)])
    assert (code, out.splitlines()[-1]) == (1, f"replay it again: {again}")


def test_replay_of_a_siblings_file_says_whose_it_is(attsvm):
    words = ["toy/rare:literal", "--sibling", "a disc", "--rounds", "4", "--out", "found"]
    assert attsvm("hunt", *TOYS, *words)[0] == 1
    code, out, _ = attsvm("replay", *TOYS, "found")
    assert code == 0
    for line in out.splitlines():
        assert 'json: toy/rare:literal, sibling "a disc": slack in [-' in line

"""Figures are found in packs, show their numbers, and are written whole, the same every time."""

import csv
import json
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from attsvm.attention import logits_of_w, softmax
from attsvm.data import AttentionData
from attsvm.errors import ClaimError, FileError, UsageError
from attsvm.losses import LOSSES
from attsvm.plots import Table
from attsvm.plots.style import sheet
from attsvm.reproduce import Numbers, Reproduction, find_figures, named, read, write
from attsvm.risk import gradient_p, gradient_w
from attsvm.svm import att_svm, local_svm
from attsvm.svm.nuclear import solve_nuclear
from attsvm.theory import load_packs
from attsvm.training import descend_kq, descend_w
from properties._support.published_data import gaussian_protocol, one_input
from properties.mm.figures import trajectories as mm_trajectories
from properties.sim.figures import margins as sim_margins
from properties.tf.figures import parameterisation_bias, probabilities, singular_values
from properties.tf.figures import trajectories as tf_trajectories

LOSS = LOSSES["log-loss"]
OURS = {
    "mm/trajectories": mm_trajectories,
    "sim/margins": sim_margins,
    "tf/parameterisation-bias": parameterisation_bias,
    "tf/probabilities": probabilities,
    "tf/trajectories": tf_trajectories,
}
PACK = """
import numpy as np
from attsvm.plots import Table
from attsvm.plots.style import dress, sheet
from attsvm.reproduce import Numbers, Reproduction
from toy_pack import true as a_claim

def numbers(seed, sets=2):
    x = np.random.default_rng(seed).normal(size=3 * sets)
    return Numbers({"points": Table.of(k=np.arange(len(x)), x=x)}, {"sets": sets})

def picture(numbers):
    figure = sheet()
    points = numbers.tables["points"]
    dress(figure.add_subplot(), "toy").plot(points["k"], points["x"])
    return figure

fixed = Reproduction("toy/fixed", "toys", "here", "x", lambda seed: numbers(seed), {"": picture})
both = {"": picture, "again": picture}
free = Reproduction("toy/free", "toys", "here", "x", numbers, both, 2)
"""


@pytest.fixture(scope="module")
def drawn():
    """The numbers and the pictures of all our figures, on few data sets where that is a choice.

    A tenth of the steps of long runs shows the same.
    """
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sim_margins, "RECORD", tuple(k // 10 for k in sim_margins.RECORD))
        patch.setattr(probabilities, "STEPS", probabilities.STEPS // 10)
        for name, module in OURS.items():
            figure = module.figure
            numbers = figure.compute(0, None if figure.sets is None else 3)
            made[name] = numbers, {key: draw(numbers) for key, draw in figure.pictures.items()}
        yield made


@pytest.fixture
def pack(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "theory"))
    path = tmp_path / "toy_figures.py"
    path.write_text(PACK)
    return str(path)


# what our figures show


def test_our_figures_are_found_in_the_installed_pack():
    figures = find_figures(load_packs())
    assert {f.id for f in figures} >= set(OURS)
    assert [f.id for f in figures] == sorted(f.id for f in figures)
    for f in figures:
        assert Path(f.json()["file"]).is_file()


@pytest.mark.parametrize("name", OURS)
def test_every_number_that_is_drawn_is_in_the_tables(drawn, name):
    numbers, pictures = drawn[name]
    known = {0.0}
    for table in numbers.tables.values():
        for column in table.columns.values():
            known |= set(column.tolist()) if column.dtype.kind in "if" else set()
    count = 0
    for axes in (axes for picture in pictures.values() for axes in picture.axes):
        for line in axes.get_lines():
            x, y = (np.asarray(v, dtype=float) for v in line.get_data())
            if len(x) < 5:
                continue  # rays, zero lines, single points
            if line.get_label() == "mean of all inputs":
                continue
            values = {v for v in [*x.tolist(), *y.tolist()] if np.isfinite(v)}
            assert values <= known
            count += 1
    assert count >= 4 or name == "sim/margins"


def test_prompts_start_on_the_circle_and_take_gradient_steps(drawn):
    numbers, _ = drawn["mm/trajectories"]
    for instance, third in mm_trajectories.THIRD.items():
        data = one_input(third)
        rows = numbers.tables["runs"].where(instance=instance)
        p, norm, *weights = [
            np.stack(rows.stack("run", "p_1", "p_2"), axis=-1),
            *rows.stack("run", "norm", "weight_1", "weight_2", "weight_3"),
        ]
        assert np.linalg.norm(p[:, 0], axis=1) == pytest.approx(np.full(10, 1.5))
        for b in range(10):
            assert rows.where(run=b)["step"][:2].tolist() == [0, 1]
            stepped = p[b, 0] - gradient_p(data, p[b, 0], LOSS)
            np.testing.assert_allclose(p[b, 1], stepped, rtol=1e-10)
        np.testing.assert_allclose(norm, np.linalg.norm(p, axis=2), rtol=1e-12)
        np.testing.assert_allclose(
            np.stack(weights, axis=-1), softmax(p @ data.X[0].T), rtol=1e-9, atol=1e-12
        )


def test_directions_of_prompts_are_the_published_ones(drawn):
    rows = drawn["mm/trajectories"][0].tables["directions"]
    best = pytest.approx([-10.0 / 101.0, 100.0 / 101.0])
    found = list(zip(rows["instance"], rows["direction"], rows["p_1"], rows["p_2"], strict=True))
    assert [row[:2] for row in found] == [
        ("third score 0.9", "global p(α), token 1"),
        ("third score 0", "global p(α), token 1"),
        ("third score 0", "local p(α), token 2"),
    ]
    assert found[0][2:] == best
    assert found[1][2:] == best
    assert found[2][2:] == pytest.approx([1.0, 0.0])


def test_far_runs_stay_beside_the_ray_that_they_are_said_to_follow(drawn):
    rows = drawn["mm/trajectories"][0].tables["headings"]
    assert set(rows["nearest"]) == {"global p(α), token 1", "local p(α), token 2"}
    for instance in mm_trajectories.THIRD:
        for run in range(10):
            own = rows.where(instance=instance, run=run)
            name = own.distinct("nearest")[0]
            kept = own.where(direction=name)
            assert kept["norm"][-1] >= 1e4
            assert kept["residual"][-1] == pytest.approx(kept["residual"][-12], rel=0.05)
            np.testing.assert_allclose(
                kept["residual"][-12:],
                kept["norm"][-12:] * np.sqrt(2 * kept["gap"][-12:]),
                rtol=1e-3,
            )
            decoy = own.where(direction=f"{name}, turned by 1°")
            expected = decoy["norm"][-1] * np.sin(np.radians(1.0))
            assert abs(decoy["residual"][-1] - expected) < 1.01 * kept["residual"][-1]


def test_projections_belong_to_weights_that_take_gradient_steps(drawn):
    tables = drawn["tf/trajectories"][0].tables
    inputs, runs = tables["inputs"], tables["runs"]
    X = np.stack([inputs["x_1"], inputs["x_2"]], axis=1).reshape(2, 3, 2)
    Z = np.stack([inputs["z_1"], inputs["z_2"]], axis=1).reshape(2, 3, 2)[:, 0]
    data = AttentionData(X, Z, scores=inputs["score"].reshape(2, 3))
    for weights in ("W", "(K, Q)"):
        rows = runs.where(weights=weights)
        W = np.stack([rows[name] for name in tf_trajectories.ENTRIES], axis=1).reshape(-1, 2, 2)
        for i in range(2):
            for c in range(2):
                np.testing.assert_allclose(rows[f"Wz{i + 1}_{c + 1}"], W[:, c] @ Z[i], atol=1e-13)
        if weights == "W":
            for b in range(len(tf_trajectories.SCALES)):
                curve = W[rows["run"] == b]
                gains = np.diff(curve, axis=0)
                middles = curve[1:] - gains / 2.0
                cosines = []
                for gain, middle in zip(gains, middles, strict=True):
                    moved = -gradient_w(data, middle, LOSS)
                    size = np.linalg.norm(gain)
                    if size > 1e-6:
                        cosines.append((gain * moved).sum() / (size * np.linalg.norm(moved)))
                assert min(cosines) > 0.99
                assert len(cosines) > 10
    for tokens in tables["directions"].distinct("tokens"):
        chosen = [int(t) - 1 for t in tokens.strip("()").split(", ")]
        rows = tables["directions"].where(tokens=tokens, direction="Frobenius")
        entries = [rows[name][0] for name in tf_trajectories.ENTRIES]
        np.testing.assert_allclose(entries, local_svm(data, chosen).W.ravel(), rtol=1e-9)
    assert att_svm(data).value <= tf_trajectories.LARGEST_NORM


def test_weights_of_softmax_move_to_few_tokens_as_the_norm_grows(drawn):
    table = drawn["tf/probabilities"][0].tables["weights"]
    norm, optimal, largest, effective = table.stack(
        "input", "norm", "optimal", "largest", "effective"
    )
    assert optimal[:, 0] == pytest.approx(np.full(6, 1.0 / 8.0))
    assert effective[:, 0] == pytest.approx(np.full(6, 8.0))
    assert (optimal <= largest).all()
    assert (np.diff(norm, axis=1) > 0).all()
    data = gaussian_protocol(np.random.default_rng(0))
    chosen = table.where(step=probabilities.STEPS)["selected"] - 1
    facts = drawn["tf/probabilities"][0].facts
    hits = (chosen == data.gamma.argmax(axis=1)).sum()
    assert facts["inputs_that_select_the_optimal_token"] == hits


def test_mean_correlations_are_means_of_the_data_sets(drawn):
    numbers, _ = drawn["tf/parameterisation-bias"]
    mean, last = numbers.tables["mean"], numbers.tables["last"]
    for run in ("W", "KQ"):
        for solution in ("Frobenius", "nuclear"):
            values = last.where(run=run, solution=solution)["correlation"]
            end = mean.where(run=run, solution=solution, step=parameterisation_bias.STEPS)
            assert len(values) == end["data_sets"][0] == 3
            assert end["mean"][0] == pytest.approx(values.mean())
            assert end["standard_error"][0] == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    assert np.isnan(mean.where(run="W", step=0)["mean"]).all()  # zero has no direction
    optimal = last.where(run="W", solution="nuclear")["optimal"]
    assert numbers.facts["W_selects_the_optimal_tokens"] == optimal.sum()


def test_correlations_are_those_with_the_solutions_of_the_selected_tokens(drawn):
    last = drawn["tf/parameterisation-bias"][0].tables["last"]
    generator = np.random.default_rng(0)
    data = [gaussian_protocol(generator) for _ in range(3)]
    K0, Q0 = 0.01 * generator.normal(size=(2, 3, 10, 10))
    how = {"step": 0.1, "steps": 2000, "record": [2000], "normalised": True}
    runs = {
        "W": descend_w(data, np.zeros((10, 10)), LOSS, **how),
        "KQ": descend_kq(data, K0, Q0, LOSS, **how),
    }
    for name, run in runs.items():
        for b, one in enumerate(data):
            W = run.W[b, -1]
            answer = local_svm(one, logits_of_w(one.X, one.Z, W).argmax(axis=1))
            solutions = {"Frobenius": answer.W, "nuclear": solve_nuclear(answer.programme).W}
            for solution, S in solutions.items():
                cosine = (W * S).sum() / np.linalg.norm(W) / np.linalg.norm(S)
                row = last.where(run=name, solution=solution, data_set=b)
                assert row["correlation"] == pytest.approx([cosine], abs=1e-9)


def test_margins_are_counted_and_start_near_zero(drawn):
    numbers, _ = drawn["sim/margins"]
    histogram, summary = numbers.tables["histogram"], numbers.tables["summary"]
    assert numbers.facts["margins"] == 3 * sim_margins.N * (sim_margins.T - 1)
    for step in sim_margins.RECORD:
        rows = histogram.where(step=step)
        assert rows["count"].sum() == numbers.facts["margins"]
        positive = summary.where(step=step)["positive"][0]
        assert rows["count"][rows["low"] >= 0].sum() <= positive
        assert rows["count"][rows["high"] > 0].sum() >= positive
    assert abs(summary["median"][0]) < 0.1 < summary["median"][-1]
    assert (np.diff(summary["median"]) > 0).all()


# writing


def known(drawn, module):
    """The figure, whose numbers were computed already."""
    return replace(module.figure, numbers=lambda seed: drawn[module.figure.id][0])


def test_csv_and_json_hold_the_same_numbers(tmp_path, drawn):
    document = write(known(drawn, probabilities), tmp_path)
    stored = json.loads((tmp_path / "tf-probabilities.json").read_text())
    assert {**stored, "files": 0, "no_pictures": None} == {**document, "files": 0}
    assert (stored["schema"], stored["figure"], stored["seed"]) == (1, "tf/probabilities", 0)
    path = tmp_path / "tf-probabilities-weights.csv"
    assert path.read_text().endswith("\n")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    for name, column in stored["tables"]["weights"].items():
        assert [float(row[name]) for row in rows] == column
    assert sorted(document["files"]) == sorted(p.as_posix() for p in tmp_path.iterdir())


def test_the_sentences_among_the_facts_are_printed_before_the_files(attsvm, pack):
    facts = '{"sets": sets, "free_concluded": "All of it grows.", "unit": "one step"}'
    Path(pack).write_text(PACK.replace('{"sets": sets}', facts))
    code, out, _ = attsvm("reproduce", "toy/free", "--pack", pack)
    assert (code, out.splitlines()[:2]) == (
        0,
        ["free concluded: All of it grows.", "toy-free.json"],
    )
    assert "one step" not in out


def test_the_same_seed_gives_the_same_bytes(tmp_path, attsvm, pack):
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder, seed in zip(folders, (7, 7, 8), strict=True):
        words = ("--out", folder, "--seed", seed, "--svg", "--pack", pack)
        code, out, error = attsvm("reproduce", "toy/free", *words)
        assert (code, error) == (0, "")
        assert out.splitlines() == [
            (folder / name).as_posix()
            for name in (
                "toy-free.json",
                "toy-free-points.csv",
                "toy-free.png",
                "toy-free.svg",
                "toy-free-again.png",
                "toy-free-again.svg",
            )
        ]
    for path in folders[0].iterdir():
        assert path.read_bytes() == (folders[1] / path.name).read_bytes()
        assert path.read_bytes() != (folders[2] / path.name).read_bytes()
    assert (folders[0] / "toy-free.png").read_bytes().startswith(b"\x89PNG")


def test_real_figures_give_the_same_bytes_too(tmp_path, drawn):
    for figure, folder in ((known(drawn, mm_trajectories), "a"), (mm_trajectories.figure, "b")):
        write(figure, tmp_path / folder, formats=())
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_nothing_half_written_is_left(tmp_path):
    def broken(numbers):
        figure = sheet()
        figure.savefig = half
        return figure

    def half(file, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    table = Table({"x": np.arange(3)})
    figure = Reproduction(
        "toy/broken", "toys", "here", "x", lambda seed: Numbers({"t": table}, {}), {"": broken}
    )
    with pytest.raises(FileError):
        write(figure, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"toy-broken.json", "toy-broken-t.csv"}


def test_a_folder_that_cannot_be_written_is_found_before_the_work(tmp_path, attsvm, pack):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper", "a\0b"):
        code, out, error = attsvm("reproduce", "toy/fixed", "--out", folder, "--pack", pack)
        assert (code, out) == (2, "")
        assert error.startswith("attsvm: cannot write to ")
        assert len(error.splitlines()) == 1
    worked = []
    figure = Reproduction("toy/x", "toys", "here", "x", worked.append, {"": broken_picture})
    with pytest.raises(FileError):
        write(figure, tmp_path / "file")
    assert worked == []


def broken_picture(numbers):
    raise AssertionError("not to be drawn")


def test_without_matplotlib_the_numbers_remain(attsvm, pack, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    words = ("reproduce", "toy/free", "--pack", pack, "--out", "numbers")
    code, out, error = attsvm(*words)
    assert code == 0
    assert out.split() == ["numbers/toy-free.json", "numbers/toy-free-points.csv"]
    assert "no picture" in error
    assert "pip install 'attsvm[plot]'" in error
    _, out, _ = attsvm(*words, "--json", "-")
    assert "attsvm[plot]" in json.loads(out)["no_pictures"]


# the command


def test_figures_that_were_written_are_read_back_for_the_page(tmp_path, attsvm, pack):
    (tmp_path / "notes.json").write_text("[1]")
    for name in ("toy/free", "toy/fixed"):
        assert attsvm("reproduce", name, "--out", tmp_path, "--pack", pack)[0] == 0
    fixed, free = read(tmp_path, "toy")
    assert (fixed.id, free.id) == ("toy/fixed", "toy/free")
    assert fixed.again == "attsvm reproduce toy/fixed --seed 0"
    assert free.again == "attsvm reproduce toy/free --seed 0 --sets 2"
    assert free.place == "here"
    assert free.pictures == tuple(
        (name, (tmp_path / file).read_bytes())
        for name, file in (("", "toy-free.png"), ("again", "toy-free-again.png"))
    )
    with pytest.raises(FileError, match="there is no figure of sim in"):
        read(tmp_path, "sim")


DOCUMENT = {"figure": "toy/free", "place": "here", "shows": "x", "seed": 0, "sets": None,
            "facts": {"said": "All meet.", "count": 3}, "pictures": []}  # fmt: skip


def test_conclusions_are_the_facts_that_are_sentences(tmp_path):
    (tmp_path / "toy-free.json").write_text(json.dumps(DOCUMENT))
    (figure,) = read(tmp_path)
    assert figure.concludes == ("said: All meet.",)


@pytest.mark.parametrize(
    ("changes", "lacks"),
    [
        ({"figure": "../x"}, "figure of the right form"),
        ({"figure": 3}, "figure of the right form"),
        ({"pictures": ["/../../secret"]}, "pictures of the right form"),
        ({"pictures": "all"}, "pictures of the right form"),
        ({"sets": 1.5}, "sets of the right form"),
        ({"facts": []}, "facts of the right form"),
    ],
)
def test_documents_of_another_form_are_refused_by_what_they_lack(tmp_path, changes, lacks):
    (tmp_path / "toy-free.json").write_text(json.dumps(DOCUMENT | changes))
    with pytest.raises(FileError, match=re.escape(f"it lacks {lacks}")):
        read(tmp_path)


def test_pictures_have_to_be_there_and_png(tmp_path):
    (tmp_path / "toy-free.json").write_text(json.dumps(DOCUMENT | {"pictures": [""]}))
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "toy-free.png").write_text("<svg/>")
    with pytest.raises(FileError, match="is no PNG file"):
        read(tmp_path)


def test_without_a_name_the_figures_are_listed(attsvm, pack):
    code, out, _ = attsvm("reproduce", "--pack", pack)
    assert code == 0
    for name in (*OURS, "toy/fixed", "toy/free"):
        assert f"\n{name}: " in "\n" + out
    _, out, _ = attsvm("reproduce", "--json", "-", "--pack", pack)
    document = json.loads(out)
    assert document["schema"] == 1
    by_id = {entry["id"]: entry for entry in document["figures"]}
    assert by_id["toy/free"]["sets"] == 2
    assert by_id["toy/fixed"]["sets"] is None
    assert by_id["mm/trajectories"]["file"].endswith("properties/mm/figures/trajectories.py")


def test_an_unknown_name_exits_with_two_the_nearest_and_the_list(attsvm):
    code, out, error = attsvm("reproduce", "tf/trajectory")
    assert (code, out) == (2, "")
    assert "Nearest: tf/trajectories." in error
    assert all(name in error for name in OURS)


def test_the_number_of_data_sets_is_a_choice_of_some_figures_only(attsvm, pack):
    words = ("--pack", pack, "--json", "-", "--sets", 5)
    code, out, _ = attsvm("reproduce", "toy/free", *words)
    document = json.loads(out)
    assert (code, document["sets"], document["facts"]) == (0, 5, {"sets": 5})
    assert len(document["tables"]["points"]["x"]) == 15
    code, out, error = attsvm("reproduce", "toy/fixed", *words)
    assert (code, out) == (2, "")
    assert "--sets" in error


def test_facts_of_numpy_become_plain_and_any_callable_computes():
    numbers = Numbers({}, {"count": np.int64(3), "share": np.float64(0.5), "loss": "log-loss"})
    assert json.dumps(numbers.json()["facts"]) == '{"count": 3, "share": 0.5, "loss": "log-loss"}'
    figure = Reproduction("toy/x", "toys", "here", "x", partial(len), {"": broken_picture})
    assert figure.json()["file"] is None


def test_ids_are_well_formed_and_unique(tmp_path, attsvm, pack):
    with pytest.raises(ClaimError, match="source/name"):
        Reproduction("Toy", "toys", "here", "x", len, {"": broken_picture})
    with pytest.raises(ClaimError, match="no picture"):
        Reproduction("toy/x", "toys", "here", "x", len, {})
    other = tmp_path / "other.py"
    other.write_text(PACK)
    code, _, error = attsvm("reproduce", "--pack", pack, "--pack", other)
    assert code == 2
    assert "same id" in error
    with pytest.raises(UsageError, match="none"):
        named((), "toy/x")


def test_singular_values_grow_as_those_of_the_certificate():
    numbers = singular_values.numbers(0, 1, (10.0, 100.0, 1000.0, 10000.0))
    table, facts = numbers.tables["slopes"], numbers.facts
    assert table.where(index=1)["slope"].tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_allclose(table.where(on_face=1)["certificate"], 1.0, atol=1e-6)
    assert (table.where(on_face=0)["certificate"] < 0.9).all()
    first, _, last = facts["median_gap_to_S_by_decade"]
    assert last < first / 2
    assert last < 0.1

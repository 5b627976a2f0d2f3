"""What is written to a path lands where a shell would put it, and only files are replaced."""

import errno
import os
import pty
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import tty
from pathlib import Path

import pytest
from commands import PACK

import attsvm
from attsvm import _files
from attsvm._files import write_all, write_whole
from attsvm.cli.running import ensure_file, finds_beside
from attsvm.errors import FileError
from attsvm.theory.packs.checkout import code_of
from attsvm.theory.packs.packs import load_packs

TEXT = b"the whole text\n" * 20_000  # more than a pipe takes at once


def put(path, text=TEXT):
    write_whole(path, lambda file: file.write(text))


def listed(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.fixture(autouse=True)
def _guard(tmp_path, monkeypatch):
    """Nothing outside the test's own folder is replaced, whatever is wrong."""

    def guarded(function):
        def call(*places, **named):
            for place in (*places, *named.values()):
                if not isinstance(place, str | Path) or place == ".part":
                    continue
                if not Path(os.path.abspath(place)).is_relative_to(tmp_path):
                    raise AssertionError(f"{place} was about to be replaced")
            return function(*places, **named)

        return call

    monkeypatch.setattr(os, "replace", guarded(os.replace))
    monkeypatch.setattr(tempfile, "mkstemp", guarded(tempfile.mkstemp))


class Reader:
    """A thread that reads `size` bytes, or to the end, from what `opened` opens."""

    def __init__(self, opened, size=None):
        self.got = b""
        self.thread = threading.Thread(target=self.read, args=(opened, size), daemon=True)
        self.thread.start()

    def read(self, opened, size):
        handle = opened()
        while size is None or len(self.got) < size:
            more = os.read(handle, 1 << 16)
            if not more:
                break
            self.got += more
        os.close(handle)

    def all(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self.got


@pytest.fixture
def terminal():
    """A character device of our own and the number of its other side."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    yield Path(os.ttyname(theirs)), ours
    os.close(theirs)
    os.close(ours)


# files


def test_a_new_file_has_the_mode_that_a_plain_open_gives(tmp_path):
    put(tmp_path / "new")
    (tmp_path / "plain").write_bytes(TEXT)
    assert (tmp_path / "new").read_bytes() == TEXT
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert listed(tmp_path) == ["new", "plain"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o666])
def test_an_existing_file_keeps_its_mode_and_other_names_of_it_their_content(tmp_path, mode):
    path, other = tmp_path / "old", tmp_path / "other"
    path.write_bytes(b"old")
    path.chmod(mode)
    os.link(path, other)
    put(path)
    assert (path.read_bytes(), other.read_bytes()) == (TEXT, b"old")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_content_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda n: (done.append(os.fstat(n).st_size), fsync(n)))
    monkeypatch.setattr(os, "replace", lambda *p: (done.append("named"), replace(*p)))
    put(tmp_path / "new")
    assert done == [len(TEXT), "named"]


# links


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_points_to_is_written(tmp_path, absolute, there):
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "target"
    if there:
        target.write_bytes(b"old")
    (tmp_path / "middle").symlink_to(target if absolute else "deep/target")
    (tmp_path / "link").symlink_to("middle")
    put(tmp_path / "link")
    assert os.readlink(tmp_path / "link") == "middle"
    assert (tmp_path / "middle").is_symlink()
    assert not target.is_symlink()
    assert target.read_bytes() == TEXT
    assert listed(tmp_path / "deep") == ["target"]


def test_links_in_a_circle_and_into_nowhere_are_errors(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "lost").symlink_to("no/such/folder/x")
    for name, why in (("a", "it is not a regular file"), ("lost", os.strerror(errno.ENOENT))):
        with pytest.raises(FileError, match=re.escape(why)):
            put(tmp_path / name)
    assert listed(tmp_path) == ["a", "b", "lost"]


# what is no file


@pytest.mark.parametrize("linked", [False, True])
def test_a_character_device_is_written_to_and_stays_one(tmp_path, terminal, linked):
    place, other_side = terminal
    before = place.stat()
    path = place
    if linked:
        path = tmp_path / "link"
        path.symlink_to(place)
    ensure_file(path, "--json")
    reader = Reader(lambda: os.dup(other_side), len(TEXT))
    put(path)
    assert reader.all() == TEXT
    after = place.stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_rdev, before.st_ino) == (after.st_rdev, after.st_ino)
    assert listed(tmp_path) == (["link"] if linked else [])


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_receives_the_whole_and_stays_one(tmp_path, linked):
    pipe = path = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    ensure_file(path, "--json")
    reader = Reader(lambda: os.open(pipe, os.O_RDONLY))
    put(path)
    assert reader.all() == TEXT
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_whose_reader_has_left_is_an_error(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = Reader(lambda: os.open(pipe, os.O_RDONLY), 1)
    with pytest.raises(FileError, match=os.strerror(errno.EPIPE)):
        put(pipe)
    reader.all()


def test_a_full_device_is_an_error_and_stays_one(tmp_path):
    before = os.stat("/dev/full")
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(FileError, match=os.strerror(errno.ENOSPC)):
        put(tmp_path / "link")
    assert os.stat("/dev/full").st_rdev == before.st_rdev
    assert (tmp_path / "link").is_symlink()


def test_a_device_is_left_alone_where_what_writes_to_it_breaks(tmp_path):
    (tmp_path / "link").symlink_to("/dev/full")

    def breaks(file):
        file.write(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "link", breaks)


def test_a_socket_and_a_folder_are_errors_and_stay(tmp_path):
    """All are named from the current folder, as the name of a socket has to be short."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for name, why in (
            ("socket", "it is not a regular file"),
            ("folder", "it is a folder"),
            ("link", "it is a folder"),
            ("", "it is a folder"),
            ("a\0b", "null (byte|character)"),
        ):
            with pytest.raises(FileError, match=why):
                put(name)
        assert stat.S_ISSOCK(os.stat("socket").st_mode)
    assert listed(tmp_path) == ["folder", "link", "socket"]


def test_standard_output_by_its_name_comes_after_what_was_printed(capfd):
    ensure_file("/dev/stdout", "--json")
    print("before", flush=True)
    put("/dev/stdout", b"text\n")
    print("after", flush=True)
    assert capfd.readouterr().out == "before\ntext\nafter\n"


def test_process_substitution_receives_the_document(tmp_path):
    done = subprocess.run(
        [
            "bash",
            "-c",
            '"$0" -m attsvm.cli claims --only-pack "$1" --json >(cat >&2)',
            sys.executable,
            PACK,
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stderr.startswith('{\n "schema": 1,')
    assert done.stderr.endswith("}\n")


# what is refused


def test_what_may_not_be_written_is_an_error_and_stays(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    path.write_bytes(b"kept")
    monkeypatch.setattr(os, "access", lambda place, kind: kind != os.W_OK)
    with pytest.raises(FileError, match="there is no permission to write to it"):
        put(path)
    assert (path.read_bytes(), listed(tmp_path)) == (b"kept", ["kept"])


def test_a_folder_that_may_not_be_written_to_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    path.write_bytes(b"kept")

    def refused(**_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "mkstemp", refused)
    with pytest.raises(FileError, match=f"{os.strerror(errno.EACCES)}.*in a folder that"):
        put(path)
    assert path.read_bytes() == b"kept"


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod"])
def test_a_disk_that_fails_at_any_step_leaves_what_was_there(tmp_path, monkeypatch, broken):
    path = tmp_path / "kept"
    path.write_bytes(b"kept")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(FileError, match=os.strerror(errno.ENOSPC)):
        put(path)
    assert (path.read_bytes(), listed(tmp_path)) == (b"kept", ["kept"])


def test_short_writes_are_gone_on_with_until_all_is_written(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, text: write(handle, text[:7]))
    handle = os.open(tmp_path / "a", os.O_WRONLY | os.O_CREAT)
    write_all(handle, b"a text longer than that")
    os.close(handle)
    assert (tmp_path / "a").read_bytes() == b"a text longer than that"
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(OSError, match="accepts no more"):
        write_all(1, b"x")


# where commands look first


def test_a_file_behind_a_link_is_looked_for_in_the_folder_of_its_target(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file/x")
    (tmp_path / "good").symlink_to("new")
    ensure_file(tmp_path / "good", "--json")
    with pytest.raises(FileError, match="cannot write"):
        ensure_file(tmp_path / "link", "--json")
    assert listed(tmp_path) == ["file", "good", "link"]


def test_finds_lie_beside_a_ledger_that_is_a_file_and_never_beside_a_device(tmp_path):
    (tmp_path / "device").symlink_to("/dev/null")
    ours = Path(".attsvm/counterexamples")
    for name in (tmp_path / "device", "/dev/null", "/dev/stdout"):
        assert finds_beside(str(name)) == ours
    assert finds_beside(str(tmp_path / "new")) == tmp_path / "counterexamples"


def test_finds_of_a_run_leave_the_curated_counterexamples_alone(attsvm, tmp_path):
    """A ledger beside a pack would have them written where the next run replays them."""
    (tmp_path / "mine.py").write_text("from toy_pack import false\n")
    curated = tmp_path / "counterexamples" / "toy--false--literal.json"
    own = ["verify", "--only-pack", "mine.py", "--ledger", "ledger.jsonl"]
    code, out, _ = attsvm(*own)
    assert (code, "in finds; replay one" in out) == (0, True)
    assert not curated.exists()
    curated.parent.mkdir()
    curated.write_text("curated")
    attsvm(*own)
    assert curated.read_text() == "curated"
    assert [p.name for p in (tmp_path / "finds").iterdir()] == [curated.name]


def test_finds_of_a_run_in_a_package_are_none_of_its_data(attsvm, on_path):
    """Its code would be another at the end of the run; what else lies in such a folder counts."""
    package = on_path / "packed_alone"
    package.mkdir()
    (package / "__init__.py").write_text("from toy_pack import false\n")
    own = ["verify", "--only-pack", package.name, "--ledger", f"{package.name}/ledger.jsonl"]
    code, out, error = attsvm(*own)
    assert (code, "finds; replay one" in out) == (0, True), error
    found = [p.name for p in (package / "finds").iterdir()]
    assert found == ["toy--false--literal.json"]
    before = code_of(load_packs(only=[package.name]))
    assert not [name for name in before if "finds/" in name]
    (package / "finds" / "data.json").write_text("{}")
    after = code_of(load_packs(only=[package.name]))
    assert after.keys() - before.keys() == {"packed_alone/finds/data.json"}


WRITING = re.compile(
    r"\bopen\([^)\n]*[\"'][rbt+]*[wax+]|\.open\(\s*[\"'][rbt+]*[wax+]|(?<!files)\.write_(text|bytes)\("
    r"|\bos\.(open|write|replace|rename)\(|shutil\.|mkstemp|NamedTemporaryFile"
    r"|\bnp\.save|\.tofile\(|savefig\((?!file,)"
)


def test_nothing_else_writes_files():
    """Only `_files`, the ledger, and the command line for its own streams."""
    root = Path(attsvm.__file__).parents[1]
    found = {
        path.relative_to(root).as_posix(): lines
        for folder in ("attsvm", "properties", "symbolic")
        for path in sorted((root / folder).rglob("*.py"))
        if (lines := [w for w in path.read_text().splitlines() if WRITING.search(w)])
        and path != Path(_files.__file__)
    }
    assert {k: len(v) for k, v in found.items()} == {
        "attsvm/cli/__init__.py": 1,  # a closed standard error is opened
        "attsvm/cli/guard.py": 1,  # the exit code, over a pipe
        "attsvm/data.py": 1,  # np.savez to the file that write_whole gives
        "attsvm/theory/coq/kernel.py": 1,  # files for Coq, in a folder of their own
        "attsvm/theory/record/ledger.py": 1,
        "attsvm/heads/head.py": 1,  # np.savez to the file that write_whole gives
        "attsvm/heads/table.py": 1,  # np.savez to the file that write_whole gives
    }, found

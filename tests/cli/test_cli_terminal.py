"""Output on a terminal of 80 columns: lines end at spaces, and words are those of a pipe."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout

import pytest
from commands import TOYS

from attsvm import cli


class Terminal(io.StringIO):
    def isatty(self):
        return True


COMMANDS = {
    "claims": (["claims", "sim/lemma-3.12"], 0),
    "show": (["show", "sim/lemma-3.13"], 0),
    "show --all": (["show", "--all", "tf/theorem-2"], 0),
    "show --proof": (["show", "--proof", "sim/lemma-3.12"], 0),
    "verify": (["verify", *TOYS, "toy/true"], 0),
    "a red verify": (["verify", *TOYS, "toy/blunt", "toy/raises"], 1),
    "a hunt": (["hunt", *TOYS, "toy/false:literal", "--rounds", "1"], 1),
    "an error": (["claims", "sim/lemma-3.13:littoral"], 2),
}


def run(words, stream):
    """Run a command with both outputs on this stream; return the exit code and the text."""
    with redirect_stdout(stream), redirect_stderr(stream):
        code = cli.main(words)
    lines = (line.rpartition("\r\x1b[K")[2] for line in stream.getvalue().split("\n"))
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(lines))
    return code, re.sub(r"\d+\.\d s\b", "0.0 s", text)  # times differ between two runs


@pytest.mark.parametrize(("words", "code"), COMMANDS.values(), ids=COMMANDS)
def test_at_80_columns_lines_end_at_spaces(words, code, here):
    ended, text = run(words, Terminal())
    assert ended == code
    long = [line for line in text.split("\n") if len(line) > 80]
    assert not [line for line in long if not re.match(r"\s+\w+=", line) and " " in line.strip()]
    _, piped = run(words, io.StringIO())
    counts = re.compile(r"[\d.]+(?:e[+-]\d+)?")  # seconds and what a busy machine has time for
    words_of = (set(counts.sub("0", each).split()) for each in (text, piped))
    assert not next(words_of) - {*next(words_of), "\\"}

"""The scripts that `attsvm completion` prints complete words in a shell."""

import os
import shutil
import subprocess

import pytest


def completed(script, words, folder):
    """What bash offers for the last word, with an attsvm that lists three claims."""
    (folder / "attsvm").write_text(
        "#!/bin/sh\nprintf 'claim  expected\\nsim/a-1:literal  holds\\nsim/a-1:sharp  holds\\n"
        "tf/b:literal  holds\\n'\n"
    )
    (folder / "attsvm").chmod(0o755)
    ask = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _attsvm\n"
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", ask + 'echo "${COMPREPLY[@]}"'],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("attsvm hu", ["hunt"]),
        ("attsvm verify --prof", ["--profile"]),
        ("attsvm solve --prof", []),
        ("attsvm verify sim", ["sim/a-1"]),
        ("attsvm gate sim", []),
        ("attsvm completion z", ["zsh"]),
    ],
)
def test_bash_offers_commands_options_and_statements(attsvm, words, offered, tmp_path):
    code, script, _ = attsvm("completion", "bash")
    assert code == 0
    assert completed(script, words, tmp_path) == offered


def test_zsh_takes_the_script_of_bash(attsvm):
    bash, zsh = (attsvm("completion", shell) for shell in ("bash", "zsh"))
    assert (bash[0], zsh[0], zsh[1].partition("\n")[2]) == (0, 0, bash[1])


def test_the_script_of_zsh_starts_its_completion_first_where_none_runs(attsvm):
    """`compdef` is what `compinit` defines, and `bashcompinit`, which defines `complete`, needs."""
    loads, starts, turns = attsvm("completion", "zsh")[1].partition("\n")[0].split("; ")
    assert set(loads.split()) > {"autoload", "compinit", "bashcompinit"}
    assert starts == "(( $+functions[compdef] )) || compinit"
    assert turns == "bashcompinit"


KEPT = "complete -o default -F _attsvm"
BARE = {
    "bash": (["bash", "--norc", "-c"], "complete -p attsvm", f"{KEPT} attsvm"),
    "zsh": (["zsh", "-f", "-c"], "print $_comps[attsvm]", f"_bash_{KEPT}"),
}
"""How a bare shell is started, asked what completes attsvm, and what it answers."""


@pytest.mark.parametrize("shell", ["bash", *(["zsh"] if shutil.which("zsh") else [])])
def test_a_bare_shell_reads_the_script(shell, attsvm, tmp_path):
    start, question, answer = BARE[shell]
    script = tmp_path / "script"
    script.write_text(attsvm("completion", shell)[1])
    done = subprocess.run(
        [*start, f"source {script}; {question}"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)},
    )
    assert (done.stdout.strip(), done.stderr) == (answer, "")

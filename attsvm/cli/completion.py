"""The command `attsvm completion` prints a shell script that completes commands and statements."""

import argparse

from attsvm.cli.arguments import Parsers, parsers_below

_IDS = ("claims", "show", "verify", "hunt")
"""Commands that take ids of claims."""

_SCRIPT = """\
_attsvm() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words id
    case "${{COMP_WORDS[1]}}" in
{cases}
        *) words="{commands}" ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    if [ "$COMP_CWORD" -gt 1 ] && [[ " {ids} " == *" ${{COMP_WORDS[1]}} "* && "$word" != -* ]]; then
        COMPREPLY=($(attsvm claims 2>/dev/null | awk -F: -v word="$word" \\
            'NR > 1 && index($1, word) == 1 {{print $1}}' | uniq))
    fi
}}
complete -o default -F _attsvm attsvm
"""

_ZSH = "autoload -U +X compinit bashcompinit; (( $+functions[compdef] )) || compinit; bashcompinit"
"""Start of zsh's completion system, which bash-style completion needs and a bare shell lacks."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("completion", help="print a script that completes words in a shell")
    parser.add_argument("shell", choices=["bash", "zsh"], help="the shell")
    parser.set_defaults(commands=parsers.commands)


def run(options: argparse.Namespace) -> int:
    """Print the script, to be read by `source <(attsvm completion bash)`."""
    result = parsers_below(options.commands)
    cases = [
        f'        {name}) words="{" ".join(parser.words())}" ;;' for name, parser in result.items()
    ]
    if options.shell == "zsh":
        print(_ZSH)
    print(
        _SCRIPT.format(cases="\n".join(cases), commands=" ".join(result), ids=" ".join(_IDS)),
        end="",
    )
    return 0

"""Translation of formulas in this package's LaTeX to plain characters."""

import re

_GROUPS = (
    (r"_\\infty", "_inf"),
    (r"\\(?:text|mathrm)\{([^{}]*)\}", r"\1"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"(?<=[_^])\{(-?[\w\\,*]*)\}", r"\1"),
    (r"(?<=[_^])\{([^{}]*)\}", r"(\1)"),
)
_FRACTION = r"\\frac\{([^{}]*)\}\{([^{}]*)\}"
_INNER = r"\([^()]*\)|\[[^\[\]]*\]|\\\|.*?\\\||\\ln "
_SIGNS = {
    "le": "<=", "ge": ">=", "ne": "!=", "to": "->", "infty": "infinity", "top": "T",
    "nabla": "grad", "cdot": "*", "otimes": "kron", "circ": "o", "left": "", "right": "", "|": "||",
    ",": " ", ";": " ",
}  # fmt: skip


def in_plain(latex: str) -> str:
    """Return a formula in this package's LaTeX in plain characters."""
    line = latex.replace(r"\{", "\\\0").replace(r"\}", "\\\1")  # printed braces group nothing
    line, before = line.replace(r"\langle ", "<").replace(r" \rangle", ">"), ""
    while line != before:  # the innermost groups first
        before = line
        for pattern, kept in _GROUPS:
            line = re.sub(pattern, kept, line)
        line = re.sub(_FRACTION, _quotient, line)
    line = line.replace(r"\langle", "<").replace(r"\rangle", ">")
    line = re.sub(r"\\([A-Za-z]+|.)", lambda match: _SIGNS.get(match[1], match[1]), line)
    return " ".join(line.replace("^*", "*").replace("\0", "{").replace("\1", "}").split())


def _quotient(match: re.Match[str]) -> str:
    """Return a fraction in one line, with brackets if it would be ambiguous."""
    above, below = match.groups()
    above = f"({above})" if re.search(" [+-] ", re.sub(_INNER, "", above)) else above
    return f"{above}/({below})" if " " in re.sub(_INNER, "", below) else f"{above}/{below}"

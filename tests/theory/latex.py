"""A reader of LaTeX that finds faults in groups, environments, mathematics and special signs."""

import re

_TOKEN = re.compile(
    r"\\begin\{(\w+\*?)\}(?:\{r+\})?|\\end\{(\w+\*?)\}|\\(left|right)[()]|\\([A-Za-z]+)|\\(.)|(.)",
    re.DOTALL,
)
_MATHS = {"gather*"}
_IN_MATHS = {"pmatrix", "array"}
_ANYWHERE = {"noindent", "textbf", "texttt", "emph", "text", "approx"}
_TEXT = {"textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar"}
_SYMBOLS = {
    *("frac", "quad", "cdot", "infty", "in", "times", "mathbb", "mathrm", "gamma", "alpha"),
    *("eta", "lambda"),
}


def faults(text):
    """A list of the faults in a piece of LaTeX; empty if none is found."""
    found, stack = [], []
    body = re.sub(r"^%.*\n", "", text)
    for match in _TOKEN.finditer(body):
        begin, end, side, command, sign, letter = match.groups()
        maths = any(s == "$" or s in _MATHS for s in stack) and "text" not in stack
        if begin:
            if begin not in _MATHS | _IN_MATHS or (begin in _IN_MATHS) is not maths:
                found.append(f"environment {begin}")
            stack.append(begin)
        elif end or side == "right":
            opened = end or "left"
            if not stack or stack.pop() != opened:
                found.append(f"{opened} ends where it is not open")
        elif side:
            stack.append("left")
        elif command:
            known = _ANYWHERE | (_SYMBOLS if maths else _TEXT)
            if command not in known or (command == "text") > maths:
                found.append(f"command {command}, maths: {maths}")
            if command == "text":
                stack.append("text next")
        elif sign:
            if sign not in "\\{}$&#_%" or (sign == "\\" and not maths):
                found.append(f"escaped {sign!r}")
        elif letter == "{":
            stack[-1:] = ["text"] if stack and stack[-1] == "text next" else [*stack[-1:], "{"]
        elif letter == "}":
            if not stack or stack.pop() not in ("{", "text"):
                found.append("} without {")
        elif letter == "$":
            if stack and stack[-1] == "$":
                stack.pop()
            elif maths:
                found.append("$ within maths")
            else:
                stack.append("$")
        elif letter == "&":
            if not stack or stack[-1] not in _IN_MATHS:
                found.append("& outside a matrix")
        elif letter in "_^":
            if not maths:
                found.append(f"{letter} outside maths")
        elif letter in "#~%<>|" or not (letter == "\n" or " " <= letter <= "~"):
            found.append(f"sign {letter!r}")
    return found + [f"{left} is never closed" for left in stack]

"""An independent reader of the Coq terms that attsvm writes: it evaluates them by mpmath.

It has its own text of the definitions of Prelude.v. So a term that is written wrongly has another
value here than the formula that it should express.
"""

import itertools
import re

import mpmath

TOKEN = re.compile(r"\s*(%nat|=>|->|/\\|\\/|<>|<=|[-+*/<=():,~]|\d+|[A-Za-z_][\w.']*)")
DIGITS = 60


def total(n, f):
    return sum((f(i) for i in range(n)), mpmath.mpf(0))


def norm(n, f):
    return mpmath.sqrt(total(n, lambda i: f(i) ** 2))


def most(n, f):
    return max(f(i) for i in range(n))


def least(n, f):
    return min(f(i) for i in range(n))


def times(d, A, x, i):
    return total(d, lambda k: A(i)(k) * x(k))


def diameter(n, d, A):
    pairs = [(A(i), A(j)) for i in range(n) for j in range(n)]
    return max(norm(d, lambda k, a=a, b=b: a(k) - b(k)) for a, b in pairs)


def softmax(n, s, i):
    return mpmath.exp(s(i)) / total(n, lambda j: mpmath.exp(s(j)))


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


FUNCTIONS = {
    "total": (2, total),
    "norm": (2, norm),
    "most": (2, most),
    "least": (2, least),
    "oscillation": (2, lambda n, f: most(n, f) - least(n, f)),
    "times": (4, times),
    "diameter": (3, diameter),
    "spread": (3, lambda n, d, A: diameter(n, d, A) / mpmath.sqrt(2)),
    "softmax": (3, softmax),
    "logistic": (1, logistic),
    "logistic_slope": (1, lambda x: logistic(x) * (1 - logistic(x))),
    "is_zero": (1, lambda x: mpmath.mpf(abs(x) < mpmath.mpf(10) ** -40)),
    "exp": (1, mpmath.exp),
    "ln": (1, mpmath.log),
    "sqrt": (1, mpmath.sqrt),
    "Rabs": (1, abs),
    "Rmax": (2, max),
    "Rmin": (2, min),
    "INR": (1, mpmath.mpf),
}


def curried(count, function, *given):
    """A function of `count` arguments that takes them one by one, as in Coq."""
    if len(given) == count:
        return function(*given)
    return lambda x: curried(count, function, *given, x)


class Reader:
    """A parser of one text; the letters of the text have the values in `known`.

    Every method parses one kind of expression and returns its value.
    """

    def __init__(self, text, known):
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s", "", text), "a sign that the reader lacks"
        self.known, self.at = known, 0
        self.sides = []

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.peek()
        assert not wanted or token in wanted, f"{token!r} where {wanted} should stand"
        self.at += 1
        return token

    def proposition(self):
        """A disjunction of conjunctions of comparisons; Coq binds `/\\` before `\\/`."""
        found = self.conjunction()
        while self.peek() == "\\/":
            self.take()
            found = self.conjunction() or found
        return found

    def conjunction(self):
        found = self.comparison()
        while self.peek() == "/\\":
            self.take()
            found = self.comparison() and found
        return found

    def comparison(self):
        start = self.at
        if self.tokens[start : start + 2] == ["(", "forall"]:
            return self.each()
        if self.peek() == "(" and self.holds_comparison():
            self.take("(")
            found = self.proposition()
            self.take(")")
            return found
        self.at = start
        left = self.sum()
        sign = self.take("<", "<=", "=", "<>")
        right = self.sum()
        self.sides.append((sign, left, right))
        close = mpmath.almosteq(left, right, mpmath.mpf(10) ** -40, mpmath.mpf(10) ** -40)
        return {"<": left < right and not close, "<=": left <= right or close}.get(
            sign, close if sign == "=" else not close
        )

    def each(self):
        """`(forall i j : nat, (i < n)%nat -> (j < m)%nat -> ...)`, as all of its cases."""
        self.take("(")
        self.take("forall")
        names = self.names(":")
        self.take("nat")
        self.take(",")
        lengths = []
        for name in names:
            for token in ("(", name, "<"):
                self.take(token)
            lengths.append(self.atom())
            for token in (")", "%nat", "->"):
                self.take(token)
        body, truth = self.text_to_bracket(), True
        for given in itertools.product(*map(range, lengths)):
            case = Reader(body, {**self.known, **dict(zip(names, given, strict=True))})
            truth = case.proposition() and truth
            self.sides += case.sides
        self.take(")")
        return truth

    def names(self, end):
        """The words up to a sign, which is passed as well."""
        names = []
        while self.peek() != end:
            names.append(self.take())
        self.take(end)
        return names

    def text_to_bracket(self):
        """The text up to the bracket that closes what is open here."""
        start, depth = self.at, 0
        while depth or self.peek() != ")":
            depth += (self.peek() == "(") - (self.peek() == ")")
            self.at += 1
        return " ".join(self.tokens[start : self.at])

    def holds_comparison(self):
        """Whether the bracket that opens at this place encloses a proposition, not a number."""
        depth = 0
        for token in self.tokens[self.at :]:
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return False
            if depth == 1 and token in ("<", "<=", "=", "<>", "/\\", "\\/"):
                return True
            if token == "fun":
                continue
        return False

    def sum(self):
        found = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            other = self.product()
            found = found + other if sign == "+" else found - other
        return found

    def product(self):
        if self.peek() == "-":
            self.take()
            return -self.product()
        found = self.application()
        while self.peek() in ("*", "/"):
            if self.take() == "*":
                found = found * self.application()
            else:
                found = mpmath.mpf(found) / self.application()
        return found

    def application(self):
        found = self.atom()
        while re.match(r"[(\w]", self.peek()) and self.peek() not in ("then", "else"):
            found = found(self.atom())
        return found

    def atom(self):
        token = self.take()
        if token.isdigit():
            found = int(token)
        elif token == "(":
            if self.peek() == "fun":
                found = self.function()
            elif self.peek() == "if":
                found = self.case()
            else:
                found = self.sum()
            self.take(")")
        elif token in self.known:
            found = self.known[token]
        else:
            count, function = FUNCTIONS[token]
            found = curried(count, function)
        if self.peek() == "%nat":
            self.take()
            assert isinstance(found, int)
        return found

    def case(self):
        """`if Nat.eqb i j then x else y`."""
        self.take("if")
        self.take("Nat.eqb")
        same = self.atom() == self.atom()
        self.take("then")
        first = self.sum()
        self.take("else")
        other = self.sum()
        return first if same else other

    def function(self):
        self.take("fun")
        names, body = self.names("=>"), self.text_to_bracket()

        def value(*given):
            inner = Reader(body, {**self.known, **dict(zip(names, given, strict=True))})
            return inner.sum()

        return curried(len(names), value)


def array(values):
    """A nested list as a function of its indices, one by one."""
    if not isinstance(values, list):
        return values
    return lambda i: array(values[i])


def sides(text, known):
    """The truth of a proposition, and the values of both sides of each of its comparisons."""
    with mpmath.workdps(DIGITS):
        reader = Reader(text, known)
        truth = reader.proposition()
        assert not reader.peek(), f"{reader.peek()!r} is left over"
        return truth, reader.sides


def with_definitions(theorem):
    """The values of the numbers that a theorem defines, by name."""
    known = {}
    with mpmath.workdps(DIGITS):
        for name, text in theorem.definitions:
            known[name] = Reader(text, known).sum()
    return known

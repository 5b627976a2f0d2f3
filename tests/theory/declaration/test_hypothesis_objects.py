"""A hypothesis is one object: another one with its name is refused with words that say so."""

from dataclasses import replace

import pytest

from attsvm.errors import ClaimError
from attsvm.theory import Hypothesis, Reading, Real, Statement, changed
from attsvm.theory.declaration.proof import suppose

POSITIVE = Hypothesis("x > 0", lambda m, v: m.above(v.x, m.exact(0)))
TWIN = replace(POSITIVE)
SAME_NAME = "another object with the same name .*'?x > 0'?.*import that object"


def declared(violating=(), **reading):
    siblings = {"lower": changed(least=1)}
    return Statement(
        id="toy/positive",
        source="toy",
        place="p",
        printed="x >= 0",
        variables={"x": Real()},
        conclusion=lambda m, v, least=0: m.at_least(v.x, m.exact(least)),
        hypotheses=(POSITIVE,),
        violating=dict(violating),
        readings={"literal": Reading("holds", **{"siblings": siblings, **reading})},
    )


@pytest.mark.parametrize(
    "made",
    [
        lambda: declared(siblings={"free": changed(drop=[TWIN])}),
        lambda: declared(under=(TWIN,)),
        lambda: declared(violating={TWIN: [{"x": -1}]}),
    ],
)
def test_another_object_with_the_name_of_a_hypothesis_is_refused(made):
    assert declared(siblings={"free": changed(drop=[POSITIVE])})
    with pytest.raises(ClaimError, match=SAME_NAME):
        made()


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        ("name", " ", "Give a text"),
        ("name", 3, "Give a text"),
        ("holds", "x > 0", "Give a function"),
        ("says", None, "Give a clause"),
        ("implies", POSITIVE, "Give a tuple of weaker hypotheses"),
        ("implies", ("x > 0",), "Give a tuple of weaker hypotheses"),
        ("setting", "yes", "Give True or False"),
    ],
)
def test_a_field_of_another_type_is_refused(field, value, remedy):
    with pytest.raises(ClaimError, match=f"`{field}` of the hypothesis .*{remedy}"):
        Hypothesis(**{"name": "x > 0", "holds": POSITIVE.holds, field: value})


@pytest.mark.parametrize("what", ["x > 0", None, POSITIVE.holds])
def test_a_proof_supposes_hypotheses_alone(what):
    suppose(POSITIVE)
    with pytest.raises(ClaimError, match="a proof supposes a value that is no hypothesis"):
        suppose(POSITIVE, what)

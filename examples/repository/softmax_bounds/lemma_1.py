"""Lemma 1: a Lipschitz constant of softmax; the printed one is too small."""

from attsvm.theory import Integer, Near, Reading, Statement, Vector, changed

LIPSCHITZ = Statement(
    "bounds/lemma-1",
    source="Two bounds on softmax",
    place="Lemma 1",
    printed="||softmax(s) - softmax(t)|| <= ||s - t||/4",
    variables={"n": Integer(1, 4), "s": Vector("n"), "t": Near("s", ("n",))},
    conclusion=lambda m, v, k: m.at_most(
        m.norm(m.softmax(v.s) - m.softmax(v.t)), m.norm(v.s - v.t) / k
    ),
    readings={
        "literal": Reading(
            "refuted",
            constants={"k": 4},
            siblings={"1/5": changed(k=5)},
        ),
        "amended": Reading("holds", constants={"k": 2}, tight=True),
    },
)

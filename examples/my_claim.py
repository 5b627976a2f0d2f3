"""A claim pack in one file: softmax moves at most half as far as its argument."""

from attsvm.theory import Integer, Near, Reading, Statement, Vector

LIPSCHITZ = Statement(
    "mine/softmax-lipschitz", source="My paper", place="Lemma 1",
    printed="||softmax(s) - softmax(t)|| <= ||s - t||/2",
    variables={"n": Integer(1, 4), "s": Vector("n"), "t": Near("s", ("n",))},
    conclusion=lambda m, v: m.at_most(
        m.norm(m.softmax(v.s) - m.softmax(v.t)), m.norm(v.s - v.t) / 2),
    readings={"literal": Reading("holds", tight=True)},
)  # fmt: skip

"""Instances of definition 3.8: some data sets have no solution, for the reason that they say."""

import numpy as np

from attsvm.exact import ExactData, separate
from properties.sim.definition_3_8.instances import headed
from tests.searching import drawn


def test_a_share_of_the_data_have_inputs_that_oppose_each_other():
    """With equal labels and without zero queries, so that nothing else rules a solution out."""
    opposed = []
    for case in drawn(headed(), 300, start=1):
        data, exact = case.data, ExactData.of(case.data)
        last = len(data.X) > 1 and (data.X[-1] == data.X[0]).all() and data.y[-1] == data.y[0]
        last = last and (data.Z[-1] == -data.Z[0]).all()
        answer = separate(exact, [tied[0] for tied in exact.optimal])
        if last and answer is not None:
            assert answer.status != "solved"
        plain = exact.unique and len(set(data.y)) == 1 and data.Z.any(axis=1).all()
        opposed.append(last and plain and data.T > 1)
    assert 0.02 < np.mean(opposed) < 0.4  # by chance it is hardly ever so

"""Instances of definition 3.8: some data sets have no solution, for the reason that they say."""

import numpy as np
from hypothesis import Phase, given, seed, settings

from attsvm.exact import ExactData, separate
from properties.sim.definition_3_8.instances import headed


def test_a_share_of_the_data_have_inputs_that_oppose_each_other():
    """With equal labels and without zero queries, so that nothing else rules a solution out."""
    opposed = []

    @seed(1)
    @settings(max_examples=300, deadline=None, database=None, phases=[Phase.generate])
    @given(headed())
    def draw(case):
        data, exact = case.data, ExactData.of(case.data)
        last = len(data.X) > 1 and (data.X[-1] == data.X[0]).all() and data.y[-1] == data.y[0]
        last = last and (data.Z[-1] == -data.Z[0]).all()
        answer = separate(exact, [tied[0] for tied in exact.optimal])
        if last and answer is not None:
            assert answer.status != "solved"
        plain = exact.unique and len(set(data.y)) == 1 and data.Z.any(axis=1).all()
        opposed.append(last and plain and data.T > 1)

    draw()
    assert 0.02 < np.mean(opposed) < 0.4  # by chance it is hardly ever so

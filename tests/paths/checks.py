"""Data of the published protocol, and a check of derivatives by central differences."""

import numpy as np
import pytest

from properties._support.published_data import gaussian_protocol


def protocol(seed=0, **sizes):
    return gaussian_protocol(np.random.default_rng(seed), **sizes)


def check_derivatives(jet, x, h, of_gradient, of_hessian):
    """Compare gradient and Hessian with central differences of step h, up to tolerances."""
    found = jet(x)
    for k, step in enumerate(h * np.eye(len(x))):
        low, high = jet(x - step), jet(x + step)
        slope = (high.value - low.value) / (2 * h)
        assert found.gradient[k] == pytest.approx(slope, abs=of_gradient)
        slope = (high.gradient - low.gradient) / (2 * h)
        assert np.allclose(found.hessian[k], slope, atol=of_hessian)

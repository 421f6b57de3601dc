"""Which metric is asked first."""

from __future__ import annotations

import numpy as np
import pytest

from paramedic.models.minder.priority import order_by_tree


@pytest.mark.long
def test_the_metric_that_tells_faults_best_comes_first_and_the_useless_last() -> None:
    rng = np.random.default_rng(0)
    faulty = np.repeat([True, False], 300)
    z = rng.normal(2.0, 0.3, (600, 4))
    z[:, 3] += np.where(faulty, 3.0, 0.0)
    z[:, 1] += np.where(faulty, 0.6, 0.0)
    z[:, 2] = -np.inf
    z[-40:, 3] += 3.0
    order = order_by_tree(z, faulty)
    assert order[0] == 3
    assert order[-1] == 2

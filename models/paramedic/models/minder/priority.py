"""Which metric is asked first: the nearer to the root of a decision tree, the sooner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DEPTH = 7
_LEAST_LEAF_SHARE = 0.005


def order_by_tree(largest_z: NDArray[np.float64], is_faulty: NDArray[np.bool_]) -> tuple[int, ...]:
    """The columns of (windows, metrics) in the order in which a tree that tells faults uses them.

    `largest_z`: for each window and metric the largest z over the machines. Columns that the tree
    has no use for come last, as they stand.
    """
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_depth=_DEPTH,
        min_samples_leaf=_LEAST_LEAF_SHARE,
        class_weight="balanced",
        random_state=0,
    ).fit(np.where(np.isfinite(largest_z), largest_z, 0.0), is_faulty)
    depths = _first_depths(tree.tree_, largest_z.shape[1])
    rank = [(depths[at], -tree.feature_importances_[at], at) for at in range(len(depths))]
    return tuple(at for *_, at in sorted(rank))


def _first_depths(tree: Any, columns: int) -> list[int]:
    """The depth at which each column is first asked; deeper than the tree where never."""
    depths = [_DEPTH + 1] * columns
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        column = int(tree.feature[node])
        if column < 0:
            continue
        depths[column] = min(depths[column], depth)
        waiting += [(int(tree.children_left[node]), depth + 1)]
        waiting += [(int(tree.children_right[node]), depth + 1)]
    return depths

"""How far apart two kinds of evidence may begin that have one cause.

When evidence began is known to some seconds: the weaker it is, the later it is seen first. The more
rows another beginning is looked for among, the more often one is near by chance, so that the limit
is narrower among all nodes of a job than within one node, and narrower still where the other hardly
shows anything.
"""

from __future__ import annotations

OF_NODES_SECONDS = 12
"""Of two nodes, one of which may be anybody."""
WITHIN_A_NODE_SECONDS = 30
"""Of a card and its own host: there is only one that it can be."""
WITH_A_DOMAIN_SECONDS = 6
"""Of a node and of what it shares with others, where hardly anything speaks against that yet."""

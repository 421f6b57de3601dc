"""From messages of the bus to the detectors of their jobs: shares, shards, slots, marks."""

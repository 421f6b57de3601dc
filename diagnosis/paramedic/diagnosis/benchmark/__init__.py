"""The open benchmark of faulty-machine detectors: same episodes, same rules, one table."""

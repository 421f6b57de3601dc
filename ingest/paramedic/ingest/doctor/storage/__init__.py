"""How fast a place for checkpoints is, and which save time and interval follow."""

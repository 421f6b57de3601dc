"""Health of the training itself: what it learns, how it is configured, fed, and how fast it is."""

"""Training of pattern models on recorded histories."""

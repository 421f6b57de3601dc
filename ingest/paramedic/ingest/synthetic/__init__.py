"""A synthetic cluster: the physics of synchronous training, and what exporters say of it."""

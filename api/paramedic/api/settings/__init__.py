"""Settings: one frozen object, read from a file, the environment and flags, and checked at once."""

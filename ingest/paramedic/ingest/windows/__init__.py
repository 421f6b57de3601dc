"""Event-time windows: the last closed one-second slots of a job, aligned over its machines."""

"""Pattern models: how far each machine is from what it should be doing."""

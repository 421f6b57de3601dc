"""Whether what arrives, and what the model makes of it, still looks like its training."""

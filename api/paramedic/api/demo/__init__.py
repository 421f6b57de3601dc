"""The demo: an outside observer that hurts a real training job and measures what becomes of it."""

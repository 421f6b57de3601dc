"""Maintenance that people declare: who is put aside, from when and until when."""

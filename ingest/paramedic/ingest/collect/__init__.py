"""Collect: pages of any source become batches of jobs; rows find their job, role and slot here."""

"""What can break in the synthetic cluster: faults change physical causes and nothing else."""

"""The model that ships with Paramedic, trained on the synthetic cluster."""

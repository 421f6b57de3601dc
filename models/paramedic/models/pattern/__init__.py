"""Our own pattern model: deviation from role peers, read by a small LSTM-VAE, calibrated."""

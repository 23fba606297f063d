"""Train a network further, epoch by epoch: what recipes of real photos have in common."""

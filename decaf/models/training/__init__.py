"""Training loops of networks and estimators, and the files that they leave."""

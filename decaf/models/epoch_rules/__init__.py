"""Rules that choose epochs of a training: one file a rule."""

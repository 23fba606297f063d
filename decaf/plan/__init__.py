"""What a study has to compute, as units of work with their keys."""

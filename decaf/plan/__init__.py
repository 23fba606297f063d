"""Work of a study, as units with their keys."""

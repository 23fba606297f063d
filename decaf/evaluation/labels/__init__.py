"""Labels of the units of a study, which judge E, C and F."""

"""The tables of the paper next to the numbers of a study."""

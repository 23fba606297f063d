"""The tables of the paper beside the numbers of a study."""

"""Equation 1 of the paper and what follows from it: E, C, F and Abs of a response."""

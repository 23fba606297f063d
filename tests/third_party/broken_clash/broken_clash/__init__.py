"""A package that gives members to decaf; the tests install it."""

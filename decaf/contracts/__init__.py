"""Contracts of the members of every open place; `decaf check-plugin` and our tests try them."""

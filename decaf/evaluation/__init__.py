"""Methods that DECAF is compared with, and labels that judge it."""

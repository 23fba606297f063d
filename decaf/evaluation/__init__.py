"""What DECAF is compared with, and what it is judged by."""

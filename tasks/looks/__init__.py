"""Looks at an audit that may stop early: what is known after some blocks of the drawn order."""

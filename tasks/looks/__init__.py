"""Looks at an audit that may stop early, each after some blocks of the drawn order."""

"""What a re-audit does beside an audit: look, judge, notify."""

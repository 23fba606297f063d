"""What a re-audit does beside an audit: discover, judge, notify."""

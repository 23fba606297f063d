"""Steps of a re-audit around its audit: discover, judge, notify."""

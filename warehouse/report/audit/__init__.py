"""Show the results of an audit: read the views of one study, make its tables and pictures."""

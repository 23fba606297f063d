"""The browser over a warehouse: what ``decaf view`` serves."""

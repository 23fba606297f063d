"""The browser over a warehouse: pages that ``decaf view`` serves to this machine."""

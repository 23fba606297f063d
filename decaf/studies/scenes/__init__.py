"""Built-in scenes: the six factors of 3D Shapes, drawn on demand, with nothing to download."""

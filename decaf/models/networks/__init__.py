"""Small networks for 32 × 32 images that train in seconds on one processor core."""

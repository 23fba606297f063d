"""Models: their cards, where they come from (``sources``), and how the study trains its own."""

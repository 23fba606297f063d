"""How recipes train networks and fit estimators, and what they leave."""

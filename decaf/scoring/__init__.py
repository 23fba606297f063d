"""From a block of pairs to the scores of every stage."""

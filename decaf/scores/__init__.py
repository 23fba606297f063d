"""Score definitions: what ``q`` is. One settings class per module (``score:`` in a configuration).

A score turns logits into one value per class of the study, (n, classes); the score of a pair is
the entry of its true class. ``identity()`` describes the definition for the shard key. A new
module in this package is a new score.
"""

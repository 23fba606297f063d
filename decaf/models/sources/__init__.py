"""Sources of models: what a card is a card of. One module per source (``source:`` of a card).

A source is a settings class derived from :class:`decaf.models.card.ModelCard`. It says what is
scored, by digests that need no torch, and loads it as a :class:`decaf.models.card.Model`. A new
module in this package is a new source.
"""

"""Models: the card that every one has, weight files, and what feeds a network or a callable.

What a card is a card of is a *source*, one module in :mod:`decaf.models.sources`.
"""

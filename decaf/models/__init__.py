"""Models: the card that says how one is fed, its checkpoint, and the classifier made of both."""

"""Reveal paths: how a pair is shown, from a common uninformative state to both clean inputs.

A path is a frozen dataclass with a ``kind`` (an entry of ``paths:`` in a configuration). For every
pair, stage and branch it names the content that is revealed, as a few 64-bit words. Its ``start``
and ``rule`` make the state of that content (:mod:`decaf.reveal.path` has the contract):

* ``start`` makes the common state ``x0``;
* ``rule`` makes a state from ``x0``, a clean input and a content, and names the contents that are
  ``x0`` itself and the clean input itself;
* ``reveal(block, inputs, grid)`` gives the words.

Starts and rules are compared by value, so two paths that reveal the same thing share the state
(:mod:`decaf.scoring.planner`). A new module in this package is a new path.
"""

"""What every member of an open place has to keep; `decaf check-plugin` and our tests try it."""

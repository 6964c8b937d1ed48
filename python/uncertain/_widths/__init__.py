"""How far true numbers may be from predicted ones, for every method."""

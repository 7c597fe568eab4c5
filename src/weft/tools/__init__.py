"""Tools that models call: schemas, arguments, bounded answers."""

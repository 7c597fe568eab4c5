"""Public object of Weft: settings in, a store, models and both paths out. Start at `weft.engine.engine`."""

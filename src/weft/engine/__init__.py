"""Engine of Weft: connects settings, store, models, write path and read path. Start at `weft.engine.engine`."""

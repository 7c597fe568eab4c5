-- Calibration of a namespace, if one was fitted.

CREATE TABLE calibration (
    namespace INTEGER PRIMARY KEY REFERENCES namespace (number) ON DELETE CASCADE,
    model INTEGER REFERENCES model (number) ON DELETE CASCADE, -- NULL: no embedder
    value TEXT NOT NULL                    -- JSON object
) STRICT;

CREATE INDEX calibration_by_model ON calibration (model);

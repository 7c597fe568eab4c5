-- How sure a namespace is of its answers, where that was fitted to it.

CREATE TABLE calibration (
    namespace INTEGER PRIMARY KEY REFERENCES namespace (number) ON DELETE CASCADE,
    model INTEGER REFERENCES model (number) ON DELETE CASCADE, -- NULL: there is no embedder
    value TEXT NOT NULL                    -- a JSON object
) STRICT;

CREATE INDEX calibration_by_model ON calibration (model);

-- purpose: entries of the registry at every re-audit
-- grain: one row per re-audit and entry of the registry, those that went included
-- inputs: files.registry_entries
-- paper: none
CREATE OR REPLACE VIEW stg_registry_entries AS
SELECT
    study::VARCHAR AS study,
    reaudit_id::VARCHAR AS reaudit_id,
    run_id::VARCHAR AS run_id,
    resolved_at::TIMESTAMPTZ AS resolved_at,
    entry::VARCHAR AS entry,
    name::VARCHAR AS name,
    version::VARCHAR AS version,
    alias::VARCHAR AS alias,
    digest::VARCHAR AS digest,
    state::VARCHAR AS state,
    change::VARCHAR AS change,
    model_id::VARCHAR AS model_id,
    weights_sha256::VARCHAR AS weights_sha256,
    feeding_sha256::VARCHAR AS feeding_sha256,
    problem::VARCHAR AS problem,
    previous_reaudit_id::VARCHAR AS previous_reaudit_id
FROM read_parquet(
    getvariable('files').registry_entries,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);

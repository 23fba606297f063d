-- purpose: committed profiles at every epsilon that was routed, as written
-- grain: one row per trajectory and epsilon
-- inputs: files.profiles
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW stg_profiles AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    profile_key::VARCHAR AS profile_key,
    shard_key::VARCHAR AS shard_key,
    pair_id::VARCHAR AS pair_id,
    path::VARCHAR AS path,
    repetition::BIGINT AS repetition,
    epsilon::DOUBLE AS epsilon,
    endpoint_delta::DOUBLE AS endpoint_delta,
    endpoint_magnitude::DOUBLE AS endpoint_magnitude,
    evidence::DOUBLE AS evidence,
    contradiction::DOUBLE AS contradiction,
    fragility::DOUBLE AS fragility,
    abs_response::DOUBLE AS abs_response,
    net_response::DOUBLE AS net_response,
    sign_flip_frac::DOUBLE AS sign_flip_frac,
    opposed_mass::DOUBLE AS opposed_mass,
    is_endpoint_active::BOOLEAN AS is_endpoint_active
FROM read_parquet(
    getvariable('files').profiles,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);

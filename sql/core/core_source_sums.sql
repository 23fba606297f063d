-- purpose: what the bootstrap resamples: sums over each source's trajectories, side by side
-- grain: one row per study, model, pair type, path and block of sources
-- inputs: core_profiles, core_sources
-- paper: appendix D.8 (statistical summaries)
-- Every list has one entry per source of the block, in the order of core_sources; a source that
-- the model lacks counts 0 rows.
CREATE OR REPLACE VIEW core_source_sums AS
WITH sums AS (
    SELECT
        study,
        model_id,
        pair_type,
        path,
        source_id,
        count(*) AS row_count,
        sum(endpoint_magnitude) AS endpoint_magnitude,
        sum(evidence) AS evidence,
        sum(contradiction) AS contradiction,
        sum(fragility) AS fragility,
        sum(abs_response) AS abs_response
    FROM core_profiles
    GROUP BY study, model_id, pair_type, path, source_id
),
cells AS (SELECT DISTINCT study, model_id, pair_type, path FROM sums)
SELECT
    study,
    model_id,
    pair_type,
    path,
    block,
    list(coalesce(row_count, 0)::DOUBLE ORDER BY position) AS row_counts,
    list(coalesce(endpoint_magnitude, 0) ORDER BY position) AS endpoint_magnitude,
    list(coalesce(evidence, 0) ORDER BY position) AS evidence,
    list(coalesce(contradiction, 0) ORDER BY position) AS contradiction,
    list(coalesce(fragility, 0) ORDER BY position) AS fragility,
    list(coalesce(abs_response, 0) ORDER BY position) AS abs_response
FROM cells
JOIN core_sources USING (study, pair_type)
LEFT JOIN sums USING (study, model_id, pair_type, path, source_id)
GROUP BY study, model_id, pair_type, path, block;

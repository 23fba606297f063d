-- purpose: what the columns of the drift are ratios of, trajectory by trajectory, image by image
-- grain: one row per entry of rel, metric and trajectory or clean image
-- inputs: drift_pairs, drift_images
-- paper: section 6.3 (ratios of means)
-- rel is as for drift_pairs. A metric is a ratio of two sums, now and before: [over, under, over
-- before, under before]. The sums of a mean are those of values and of ones. position is the place
-- of the source among those of the same kind.
CREATE OR REPLACE MACRO drift_terms(rel) AS TABLE
WITH trajectories AS MATERIALIZED (FROM drift_pairs(rel)),
terms AS (
    SELECT
        study, reaudit_id, entry, pair_type, path,
        dense_rank() OVER (
            PARTITION BY study, reaudit_id, entry, pair_type, path ORDER BY source_id
        ) - 1 AS position,
        [endpoint_magnitude[1], 1, endpoint_magnitude[2], 1] AS endpoint_magnitude,
        [evidence[1], 1, evidence[2], 1] AS evidence,
        [contradiction[1], 1, contradiction[2], 1] AS contradiction,
        [fragility[1], 1, fragility[2], 1] AS fragility,
        [abs_response[1], 1, abs_response[2], 1] AS abs_response,
        [is_endpoint_active[1], 1, is_endpoint_active[2], 1] AS active_frac,
        [evidence[1], abs_response[1], evidence[2], abs_response[2]] AS evidence_frac,
        [contradiction[1], abs_response[1], contradiction[2], abs_response[2]]
            AS contradiction_frac,
        [fragility[1], abs_response[1], fragility[2], abs_response[2]] AS fragility_frac
    FROM trajectories
)
SELECT
    {
        study: study, reaudit_id: reaudit_id, entry: entry, pair_type: pair_type, path: path,
        variant: NULL::VARCHAR, metric: metric
    } AS g,
    position,
    term
FROM terms
UNPIVOT (term FOR metric IN (
    endpoint_magnitude, evidence, contradiction, fragility, abs_response,
    active_frac, evidence_frac, contradiction_frac, fragility_frac
))
UNION ALL
SELECT
    {
        study: study, reaudit_id: reaudit_id, entry: entry, pair_type: NULL::VARCHAR,
        path: NULL::VARCHAR, variant: variant, metric: 'accuracy'
    },
    dense_rank() OVER (PARTITION BY study, reaudit_id, entry, variant ORDER BY source_id) - 1,
    [is_correct, 1, was_correct, 1]
FROM drift_images(rel);

-- purpose: mean profile of every model by class, split and kind of input, with spread and interval
-- grain: one row per study, model, pair type, path, grouping, member of the grouping and metric
-- paper: section 6; appendix D.8 (statistical summaries)
-- rel names a relation with the columns of core_profiles, such as some of its rows. The
-- bootstrap draws the sources of a member; members with equally many sources share draws. Accuracy
-- is that on factual inputs with a known class. limits_of_member has the intervals.
-- FROM breakdowns_of('my_profiles', 500, 91702)
CREATE OR REPLACE MACRO breakdowns_of(rel, replicates, seed) AS TABLE
WITH answers AS (
    SELECT pair.study, model_id, pair_id, predicted_class = class_id AS is_correct
    FROM core_pairs AS pair
    JOIN core_first_predictions AS plus ON plus.study = pair.study AND image_id = plus_image
),
entries AS (
    SELECT
        study, model_id, pair_type, path, grouping, member, place, pair_place, weight,
        evidence, contradiction, fragility, abs_response, endpoint_magnitude, endpoint_delta,
        is_endpoint_active::INTEGER AS active_frac,
        is_correct::INTEGER AS accuracy
    FROM query_table(rel)
    LEFT JOIN answers USING (study, model_id, pair_id)
    JOIN pair_members() USING (study, pair_id)
),
means AS (
    SELECT
        study, model_id, pair_type, path, grouping, member, pair_count, source_count, answered_count,
        mean_of_member(sums[2], sums[1], evidence) AS evidence,
        mean_of_member(sums[3], sums[1], contradiction) AS contradiction,
        mean_of_member(sums[4], sums[1], fragility) AS fragility,
        mean_of_member(sums[5], sums[1], abs_response) AS abs_response,
        mean_of_member(sums[6], sums[1], endpoint_magnitude) AS endpoint_magnitude,
        mean_of_member(sums[7], sums[1], endpoint_delta) AS endpoint_delta,
        mean_of_member(sums[8], sums[1], active_frac) AS active_frac,
        mean_of_member(sums[9], sums[10], accuracy) AS accuracy
    FROM breakdown_sums('entries', replicates, seed)
)
SELECT
    study, model_id, pair_type, path, grouping, member, metric,
    pair_count,
    source_count,
    mean.estimate AS estimate, -- weighted mean; score units, or a share (active_frac, accuracy)
    CASE WHEN source_count > 1 THEN limits_of_member(metric, mean, answered_count).lower END
        AS lower_95, -- NULL for the reason given
    CASE WHEN source_count > 1 THEN limits_of_member(metric, mean, answered_count).upper END
        AS upper_95,
    mean.quantiles[1] AS p10, -- over trajectories, without weights
    mean.quantiles[2] AS p50,
    mean.quantiles[3] AS p90,
    CASE
        WHEN source_count = 1 THEN 'a single source'
        WHEN lower_95 IS NULL THEN 'fewer than two defined replicates'
    END AS reason
FROM means
UNPIVOT (mean FOR metric IN (
    evidence, contradiction, fragility, abs_response, endpoint_magnitude, endpoint_delta, active_frac,
    accuracy
))
WHERE mean.estimate IS NOT NULL;

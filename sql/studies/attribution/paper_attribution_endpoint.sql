-- purpose: gain of the trajectory over its endpoint, and of the endpoint over other methods
-- grain: one row per study, protocol, two methods, model (NULL is all) and statistic
-- paper: section 7, table 5; appendix H, tables 8 and 9
-- The gain is the mean Spearman of the first method minus that of the second on the same images.
-- Intervals draw images, the same for both.
CREATE OR REPLACE VIEW paper_attribution_endpoint AS
WITH replicates AS MATERIALIZED (FROM attribution_replicates(1000, 8218)),
gains AS MATERIALIZED (
    SELECT one.study, one.protocol, one.method, other.method AS against, one.model_id,
        one.replicate, one.value - other.value AS gain
    FROM replicates AS one
    JOIN replicates AS other ON one.study = other.study AND one.protocol = other.protocol
        AND one.model_id = other.model_id AND one.replicate IS NOT DISTINCT FROM other.replicate
    WHERE starts_with(one.method, 'decaf_') AND other.method = 'endpoint_m'
        OR one.method = 'endpoint_m'
        AND list_contains(['ig_32', 'ig_u_32', 'kernel_shap_512'], other.method)
),
means AS (
    SELECT
        {study: study, protocol: protocol, method: method, against: against, model_id: model_id}
            AS g, replicate, if(count(gain) = count(*), avg(gain), NULL) AS value
    FROM gains
    GROUP BY GROUPING SETS (
        (study, protocol, method, against, model_id, replicate),
        (study, protocol, method, against, replicate)
    )
),
estimates AS (
    SELECT unnest(g), limits.* EXCLUDE (g), 'spearman_gain' AS statistic,
        coalesce(g.model_id, '') AS part,
        CASE WHEN estimate IS NULL THEN 'every image has a constant row'
            WHEN lower_95 IS NULL THEN 'a single image has no interval' END AS reason
    FROM two_level_limits('means') AS limits
    UNION ALL BY NAME
    SELECT study, protocol, method, against, count_if(gain > 0)::DOUBLE AS estimate,
        'model_wins' AS statistic, '' AS part
    FROM gains WHERE replicate IS NULL GROUP BY ALL
    UNION ALL BY NAME
    SELECT study, protocol, 'decaf' AS method, against, model_id, max(gain) AS estimate,
        'best_gain' AS statistic, attribution_architecture(architecture, family) AS part
    FROM gains JOIN core_attribution_studies AS studies USING (study, protocol)
    JOIN stg_models USING (study, run_id, model_id)
    WHERE replicate IS NULL AND against = 'endpoint_m'
    GROUP BY ALL
),
placed AS (
    SELECT estimates.*, concat_ws(' ', benchmark, against) AS unit
    FROM estimates JOIN core_attribution_studies USING (study, protocol)
)
SELECT study, protocol, method, -- decaf is the best of its grids
    against, model_id, -- NULL is the mean over models, or their number
    statistic, estimate, lower_90, upper_90, lower_95, upper_95, -- difference of two correlations
    published, published_lower_95, published_upper_95, difference, reason
FROM with_published('placed', 'attribution')
ORDER BY study, protocol, against <> 'endpoint_m', method, against, model_id NULLS FIRST, statistic;

-- purpose: number of images in the comparison of attribution methods, and of images left out
-- grain: one row per study, protocol, model (NULL is all) and statistic
-- paper: appendix H (protocol and strict common support)
-- An image with several incomplete methods counts once for each of them.
CREATE OR REPLACE VIEW paper_attribution_support AS
WITH judged AS MATERIALIZED (FROM core_attribution_support),
told AS (
    SELECT study, protocol, model_id, unnest(['model_images', 'supported_images']) AS statistic,
        NULL AS method, unnest([count(*), count_if(is_supported)]) AS image_count
    FROM judged
    GROUP BY study, protocol, model_id
    UNION ALL
    SELECT study, protocol, model_id, 'left_out_images', reason, count(*)
    FROM judged
    WHERE reason IS NOT NULL AND NOT starts_with(reason, 'incomplete')
    GROUP BY ALL
    UNION ALL
    SELECT study, protocol, model_id, 'incomplete_images', method, count(*)
    FROM judged, unnest(incomplete_methods) AS lacks (method)
    WHERE starts_with(reason, 'incomplete')
    GROUP BY ALL
),
placed AS (
    SELECT told.*, benchmark, attribution_architecture(architecture, family) AS architecture
    FROM told
    JOIN core_attribution_studies USING (study, protocol)
    JOIN stg_models USING (study, run_id, model_id)
),
estimates AS (
    SELECT study, protocol, method AS left_out, model_id, statistic,
        sum(image_count)::DOUBLE AS estimate, any_value(benchmark) AS unit,
        if(GROUPING(model_id) = 0, any_value(architecture), '') AS part
    FROM placed
    GROUP BY GROUPING SETS (
        (study, protocol, method, statistic, model_id), (study, protocol, method, statistic)
    )
)
SELECT study, protocol, model_id, statistic, left_out, -- the reason, or the incomplete method
    estimate, -- images; of all models together if model_id is NULL
    published, -- NULL if the paper has no value
    difference, reason
FROM with_published('estimates', 'attribution')
ORDER BY study, protocol, model_id NULLS FIRST, list_position(
    ['model_images', 'supported_images', 'left_out_images', 'incomplete_images'], statistic), left_out;

-- purpose: numbers of attribution studies for the values of the paper
-- grain: one row per study and value of the paper
-- paper: section 7; appendix H
-- Under the native protocol the paper's tables skip constant rows; the mean over models does not.
CREATE OR REPLACE VIEW core_attribution_comparisons AS
WITH numbers AS (
    SELECT study, protocol, method, model_id, 'spearman' AS statistic, estimate, lower_95, upper_95,
        reason
    FROM paper_attribution_comparison
    UNION ALL BY NAME
    SELECT study, protocol, method, statistic, estimate, reason
    FROM paper_attribution_compute
    WHERE statistic IN ('rows_per_image', 'ms_per_image', 'peak_gib')
    UNION ALL BY NAME
    SELECT study, protocol, method, against, model_id, statistic, estimate, lower_95, upper_95, reason
    FROM paper_attribution_endpoint
    UNION ALL BY NAME
    SELECT study, 'native' AS protocol, method, model_id, statistic, estimate, reason
    FROM paper_attribution_native
    UNION ALL BY NAME
    SELECT study, protocol, model_id, statistic, estimate, reason
    FROM paper_attribution_support
    WHERE statistic = 'supported_images'
    UNION ALL BY NAME
    SELECT study, protocol, unnest(['images', 'models']) AS statistic,
        unnest([image_count, model_count])::DOUBLE AS estimate
    FROM core_attribution_studies
)
SELECT
    'attribution' AS paper,
    study,
    concat_ws(' ', benchmark, against) AS unit,
    method,
    attribution_architecture(architecture, family) AS part, -- NULL is all models
    statistic, estimate, lower_95, upper_95, reason,
    image_count AS sample_size,
    is_official, why -- of the data
FROM numbers
JOIN core_attribution_studies USING (study, protocol)
JOIN (SELECT study, is_official, why FROM paper_attribution_data) USING (study)
LEFT JOIN stg_models USING (study, run_id, model_id);

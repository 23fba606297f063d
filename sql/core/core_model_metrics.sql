-- purpose: mean of every metric in long form
-- grain: one row per study, model, pair type, path and metric
-- paper: section 6.3; appendix C.1
CREATE OR REPLACE VIEW core_model_metrics AS
WITH means AS (
    SELECT
        study,
        model_id,
        pair_type,
        path,
        count(DISTINCT source_id) AS source_count,
        weighted_mean(COLUMNS([
            'endpoint_magnitude', 'evidence', 'contradiction', 'fragility', 'abs_response'
        ]), weight)
    FROM core_profiles
    GROUP BY study, model_id, pair_type, path
)
FROM by_metric('means')
WHERE mean IS NOT NULL;

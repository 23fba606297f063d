-- purpose: share of sources with each behaviour of ImageNet-9, by model
-- grain: one row per study and model
-- paper: appendix F
-- Behaviours are at the run's epsilon and a change of 0.20; for others, use behaviours. Only
-- studies that measure behaviours have rows.
CREATE OR REPLACE VIEW out_behaviours AS
-- With an infinite threshold, corruptions decide y_fragility of all pairs.
WITH shown AS (
    SELECT unit.*, abs(endpoint_delta) >= epsilon AS is_at_endpoint
    FROM behaviours('infinity'::DOUBLE, 0.2) AS unit
    JOIN core_current_runs USING (study)
)
SELECT
    study,
    model_id,
    count(*) AS source_count,
    count(*) FILTER (NOT is_at_endpoint) AS null_count, -- inactive pairs, which are corrupted
    avg(y_evidence::DOUBLE) AS evidence_frac,
    avg(y_contradiction::DOUBLE) AS contradiction_frac,
    -- NULL without scored corruptions
    avg(if(is_at_endpoint, FALSE, y_fragility)::DOUBLE) AS fragility_frac
FROM shown
SEMI JOIN (FROM core_measurements WHERE kind = 'corruptions') USING (study)
GROUP BY study, model_id
ORDER BY study, model_id;

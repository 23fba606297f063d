-- purpose: how often each model shows the behaviours of ImageNet-9, at the thresholds of the paper
-- grain: one row per study and model
-- inputs: behaviours, core_measurements
-- paper: appendix E
-- Another threshold: FROM behaviours(0.01, 0.1). Only studies that measure behaviours have rows.
CREATE OR REPLACE VIEW out_behaviours AS
SELECT
    study,
    model_id,
    count(*) AS source_count,
    count(*) FILTER (NOT is_active) AS null_count, -- endpoint-null pairs: the ones corrupted
    avg(y_evidence::DOUBLE) AS evidence_frac,
    avg(y_contradiction::DOUBLE) AS contradiction_frac,
    avg(y_fragility::DOUBLE) AS fragility_frac -- NULL unless corruptions have been scored
FROM behaviours(0.02, 0.2) AS unit
WHERE EXISTS (
    FROM core_measurements AS planned
    WHERE planned.study = unit.study AND planned.kind = 'corruptions'
)
GROUP BY study, model_id
ORDER BY study, model_id;

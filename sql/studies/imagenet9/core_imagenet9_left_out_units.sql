-- purpose: number of cases of every model that the benchmark of ImageNet-9 leaves out, and why
-- grain: one row per study, model and reason
-- paper: appendix F
CREATE OR REPLACE VIEW core_imagenet9_left_out_units AS
SELECT
    study,
    model_id,
    reason,
    count(*) AS left_out_count,
    -- All cases of the model.
    sum(count(*)) OVER (PARTITION BY study, model_id)::BIGINT AS unit_count
FROM core_units
GROUP BY study, model_id, reason
QUALIFY reason IS NOT NULL;

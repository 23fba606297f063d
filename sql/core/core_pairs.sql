-- purpose: pairs that the current runs audit
-- grain: one row per study and pair
-- paper: section 2; appendix F.3
CREATE OR REPLACE VIEW core_pairs AS
SELECT
    pair.study,
    run.run_id,
    pair.pair_id,
    pair.source_id,
    pair.pair_type,
    pair.class_id,
    pair.split,
    pair.plus_image,
    pair.minus_image,
    pair.plus_variant,
    pair.minus_variant
FROM stg_pairs AS pair
JOIN core_current_runs AS run USING (study, pairs_digest);

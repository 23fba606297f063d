-- purpose: pairs that the current runs audit
-- grain: one row per study and pair
-- paper: section 2; appendix F.3
CREATE OR REPLACE VIEW core_pairs AS
SELECT study, run.run_id, pair.* EXCLUDE (study, pairs_digest)
FROM stg_pairs AS pair
JOIN core_current_runs AS run USING (study, pairs_digest);

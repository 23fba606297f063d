-- purpose: scores of probes on held-out families of models, in the current runs
-- grain: one row per study, representation, probe, family and label
-- paper: section 6.2; appendix F (cross-architecture comparison)
CREATE OR REPLACE VIEW core_probe_scores AS
SELECT study, run_id, probe.* EXCLUDE (study, unit_key)
FROM stg_probe_scores AS probe
JOIN core_analyses USING (study, unit_key);

-- purpose: predictions of probes for every case of a held-out family, in the current runs
-- grain: one row per study, representation, probe, model, source and label
-- paper: section 6.2; appendix F (cross-architecture comparison)
CREATE OR REPLACE VIEW core_probe_units AS
SELECT study, run_id, unit.* EXCLUDE (study, unit_key)
FROM stg_probe_units AS unit
JOIN core_analyses USING (study, unit_key);

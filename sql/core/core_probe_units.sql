-- purpose: what probes of the current runs said of every unit of the family that was held out
-- grain: one row per study, representation, probe, model, source and label
-- paper: section 6.2; appendix F (cross-architecture comparison)
CREATE OR REPLACE VIEW core_probe_units AS
SELECT
    study,
    run_id,
    representation,
    probe,
    model_id,
    source_id,
    family, -- held out
    label,
    is_shown, -- whether the unit shows the behaviour
    probability -- 0 to 1; NULL where the fold is undefined: core_probe_scores says why
FROM stg_probe_units
JOIN core_analyses USING (study, unit_key);

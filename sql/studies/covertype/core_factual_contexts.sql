-- purpose: own context of every audited row of Covertype in the current runs, by module and seed
-- grain: one row per study, module, training seed and row of the table
-- paper: appendix I (setup)
-- Models of one module and seed share their random numbers for every mechanism and strength.
CREATE OR REPLACE VIEW core_factual_contexts AS
SELECT study, run_id, drawn.* EXCLUDE (study, unit_key)
FROM stg_factual_contexts AS drawn
JOIN core_analyses USING (study, unit_key);

-- purpose: own context of every audited row of Covertype, by module and seed
-- grain: one row per study, module, training seed and row of the table
-- paper: appendix I (setup)
-- All mechanisms and strengths of a module and seed share their random numbers.
CREATE OR REPLACE VIEW core_factual_contexts AS
SELECT study, run_id, drawn.* EXCLUDE (study, unit_key)
FROM stg_factual_contexts AS drawn
JOIN core_analyses USING (study, unit_key);

-- purpose: planned analyses of the current runs over all their models, and which are complete
-- grain: one row per study and analysis of its current run
CREATE OR REPLACE VIEW core_analyses AS
SELECT
    unit.study,
    unit.run_id,
    unit.name AS kind,
    unit.unit_key,
    part.value AS definition, -- JSON
    unit.is_made
FROM core_run_units AS unit
JOIN stg_unit_parts AS part USING (study, run_id, unit_key)
WHERE unit.kind = 'analyse' AND part.part = 'definition';

-- purpose: number of every source of a study, in the order of names, over all runs
-- grain: one row per study and source
CREATE OR REPLACE VIEW core_source_order AS
SELECT
    study,
    source_id,
    (row_number() OVER (PARTITION BY study ORDER BY source_id) - 1)::INTEGER AS place
FROM (SELECT DISTINCT study, source_id FROM stg_pairs);

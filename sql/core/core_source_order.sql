-- purpose: place of every source of the warehouse by its name, in whichever run
-- grain: one row per source
CREATE OR REPLACE VIEW core_source_order AS
SELECT source_id, (row_number() OVER (ORDER BY source_id) - 1)::INTEGER AS place
FROM (SELECT DISTINCT source_id FROM stg_pairs);

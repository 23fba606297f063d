-- purpose: sources in the order in which the bootstrap numbers them
-- grain: one row per study, pair type and source of the current run
-- paper: appendix D.8 (statistical summaries)
-- The order includes sources of pairs that are not scored yet, so draws stay the same while an
-- audit runs, and for a model that lacks a source.
CREATE OR REPLACE VIEW core_sources AS
SELECT
    study,
    pair_type,
    source_id,
    row_number() OVER (PARTITION BY study, pair_type ORDER BY source_id) - 1 AS position,
    position // 256 AS block,
    count(*) OVER (PARTITION BY study, pair_type) AS source_count
FROM (SELECT DISTINCT study, pair_type, source_id FROM core_pairs);

-- purpose: which sources every bootstrap replicate draws, shared by all models, paths and metrics
-- grain: one row per study, pair type, replicate and draw
-- inputs: core_sources
-- paper: appendix D.8 (statistical summaries)
-- A draw is a hash of text. hash() of several numbers is not random enough: its bits correlate
-- between replicates, and intervals come out far too narrow.
CREATE OR REPLACE MACRO bootstrap_draws(replicates, seed) AS TABLE
SELECT
    study,
    pair_type,
    replicate::BIGINT AS replicate,
    position::BIGINT AS draw,
    (hash(concat_ws(':', seed, replicate, position)) % source_count)::BIGINT AS position
FROM core_sources
CROSS JOIN range(replicates) AS replicate_numbers (replicate);

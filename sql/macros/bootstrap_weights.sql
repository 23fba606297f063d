-- purpose: how often every bootstrap replicate drew each source, as lists to multiply with
-- grain: one row per study, pair type, replicate and block of 256 sources
-- inputs: core_sources, bootstrap_draws
-- paper: appendix D.8 (statistical summaries)
-- Resampled sums are then inner products of lists, which is several times faster than joining
-- every draw with every row; blocks bound the memory whatever the number of sources.
CREATE OR REPLACE MACRO bootstrap_weights(replicates, seed) AS TABLE
WITH drawn AS (
    SELECT study, pair_type, replicate, position, count(*) AS draw_count
    FROM bootstrap_draws(replicates, seed)
    GROUP BY study, pair_type, replicate, position
),
every_source AS (
    SELECT study, pair_type, position, block, replicate::BIGINT AS replicate
    FROM core_sources
    CROSS JOIN range(replicates) AS replicate_numbers (replicate)
)
SELECT
    study,
    pair_type,
    replicate,
    block,
    list(coalesce(draw_count, 0)::DOUBLE ORDER BY position) AS weights
FROM every_source
LEFT JOIN drawn USING (study, pair_type, replicate, position)
GROUP BY study, pair_type, replicate, block;

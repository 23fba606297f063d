-- purpose: number of magnitude bins in every mean of bin_summaries, and number that DECAF wins
-- grain: one row per study, method, part (all bins, valid bins, common support) and statistic
-- paper: section 6.2 (figure 3c); appendix F
-- rel is as for bin_summaries. A bin has common support if DECAF's AUROC is defined for all three
-- labels. A method that is undefined in a bin of common support has no count of wins.
CREATE OR REPLACE MACRO bin_counts(rel) AS TABLE
WITH sample AS MATERIALIZED (FROM query_table(rel) WHERE replicate IS NULL),
cells AS MATERIALIZED (
    SELECT study, method, bin, CASE WHEN count(value) = 3 THEN avg(value) END AS macro
    FROM sample
    GROUP BY study, method, bin
),
decaf AS (FROM cells WHERE method = 'DECAF'),
wins AS (
    SELECT
        study, other.method, count(decaf.macro) AS common_count,
        count(other.macro) FILTER (decaf.macro IS NOT NULL) AS defined_count,
        count_if(decaf.macro > other.macro) AS won
    FROM cells AS other
    JOIN decaf USING (study, bin)
    WHERE other.method <> 'DECAF'
    GROUP BY study, other.method
)
SELECT
    study, method, 'all bins' AS part, 'bins' AS statistic,
    count(*)::DOUBLE AS estimate, -- bins
    NULL::VARCHAR AS reason
FROM decaf
GROUP BY study, method
UNION ALL
SELECT study, method, 'valid bins', 'bins_of_' || label, count(value), NULL
FROM sample
GROUP BY study, method, label
UNION ALL
SELECT study, method, 'common support', 'bins', count(macro), NULL
FROM decaf
GROUP BY study, method
UNION ALL
SELECT
    study, method, 'common support', 'bins_below_decaf',
    CASE WHEN common_count > 0 AND defined_count = common_count THEN won END,
    CASE
        WHEN common_count = 0 THEN 'no bin of common support'
        WHEN defined_count < common_count THEN 'a label is undefined in a bin of common support'
    END
FROM wins;

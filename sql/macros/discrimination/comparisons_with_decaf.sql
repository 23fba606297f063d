-- purpose: estimates of every method, and DECAF's estimate minus it, with intervals of shared
--   replicates
-- grain: one row per study, method, part and statistic
-- paper: section 6.1; appendix F (statistical reporting)
-- rel names a relation with columns study, method, part (such as a label), statistic, replicate
-- (NULL for the sample itself), value, unit_count, cluster_count and undefined (why the sample's
-- value is NULL). A difference is DECAF minus the method in each replicate; it is undefined
-- if both were judged on different numbers of units.
CREATE OR REPLACE MACRO comparisons_with_decaf(rel) AS TABLE
WITH single AS MATERIALIZED (FROM query_table(rel)),
entries AS MATERIALIZED (
    FROM single
    UNION ALL BY NAME
    SELECT
        study,
        other.method,
        part,
        statistic || '_difference' AS statistic,
        other.replicate,
        CASE WHEN other.unit_count = decaf.unit_count THEN decaf.value - other.value END AS value,
        other.unit_count,
        least(other.cluster_count, decaf.cluster_count) AS cluster_count,
        CASE
            WHEN other.unit_count <> decaf.unit_count THEN 'judged on other units than DECAF'
            ELSE coalesce(other.undefined, decaf.undefined)
        END AS undefined
    FROM single AS other
    JOIN (FROM single WHERE method = 'DECAF') AS decaf USING (study, part, statistic)
    WHERE other.method <> 'DECAF' AND other.replicate IS NOT DISTINCT FROM decaf.replicate
),
values_by_group AS (
    SELECT
        {study: study, method: method, part: part, statistic: statistic} AS g, replicate, value
    FROM entries
),
limits AS (SELECT unnest(g), * EXCLUDE (g) FROM two_level_limits('values_by_group'))
SELECT
    study,
    method,
    part,
    statistic,
    estimate,
    CASE WHEN cluster_count > 1 THEN COLUMNS('^(lower|upper)_') END,
    CASE
        WHEN estimate IS NULL THEN coalesce(undefined, 'undefined')
        WHEN cluster_count = 1 THEN 'a single model has no interval'
    END AS reason
FROM limits
JOIN (FROM entries WHERE replicate IS NULL) USING (study, method, part, statistic);

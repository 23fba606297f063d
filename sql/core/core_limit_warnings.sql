-- purpose: warnings because of which limits of `expect:` that hold are undecided
-- grain: one row per study, model and warning
-- They are those of core_response_doubts and core_wide_limit_warnings, or more than a twentieth of
-- the pairs have no profile on some path.
CREATE OR REPLACE VIEW core_limit_warnings AS
WITH limited AS (
    SELECT DISTINCT study, model_id, pair_type, pair_type_name FROM out_limits
),
withheld AS (
    SELECT DISTINCT study, model_id, pair_id, pair_type
    FROM stg_quarantine
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    JOIN (SELECT study, pair_id, pair_type FROM core_pairs) USING (study, pair_id)
),
counted AS (
    SELECT study, model_id, pair_type, count(DISTINCT pair_id) AS pair_count,
        count(DISTINCT pair_id) FILTER (is_withheld) AS withheld_count
    FROM (
        SELECT *, true AS is_withheld FROM withheld
        UNION ALL
        SELECT study, model_id, pair_id, pair_type, false
        FROM core_profiles SEMI JOIN withheld USING (study, model_id, pair_type)
    )
    GROUP BY study, model_id, pair_type
)
SELECT DISTINCT study, model_id, warning, NULL::BIGINT AS affected_count, detail
FROM core_response_doubts AS doubt
JOIN limited USING (study, model_id)
WHERE coalesce(doubt.pair_type, limited.pair_type) = limited.pair_type
UNION ALL
SELECT study, model_id, 'withheld_pairs', NULL,
    format('{:,} of {:,} pairs of {} have scores that are not finite on some path, so means there exclude them',
        withheld_count, pair_count, pair_type_name)
FROM counted
JOIN limited USING (study, model_id, pair_type)
WHERE 20 * withheld_count > pair_count
UNION ALL
FROM core_wide_limit_warnings;

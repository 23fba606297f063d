-- purpose: similarity of matched models: different mechanisms, nearly equal Abs
-- grain: one row per study, method (or all) and statistic
-- paper: appendix I (matched-pair audit and its limits)
-- A relative difference is the difference of two numbers over the larger one. Accuracy is the share
-- of models of all pairs whose largest score, of the three of a method, is that of the mechanism.
CREATE OR REPLACE VIEW paper_covertype_matched AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
units AS MATERIALIZED (FROM covertype_units('models')),
credits AS MATERIALIZED (
    SELECT study, method, model_id, any_value(family) AS family, any_value(abs_response) AS a,
        any_value(endpoint_magnitude) AS m,
        role_credit(list(score ORDER BY label), list(is_shown::INTEGER ORDER BY label)) AS credit
    FROM units
    GROUP BY study, method, model_id
),
sides AS MATERIALIZED (
    SELECT study, position, method, one.family = two.family AS is_same_family,
        abs(one.m - two.m) / nullif(greatest(one.m, two.m), 0) AS m_difference,
        abs(one.a - two.a) / nullif(greatest(one.a, two.a), 0) AS abs_difference,
        (one.credit + two.credit) / 2 AS credit
    FROM core_matched_pairs
    JOIN credits AS one USING (study)
    JOIN credits AS two USING (study, method)
    WHERE one.model_id = left_model_id AND two.model_id = right_model_id
),
counted AS (
    SELECT study, count(*) AS units
    FROM credits
    SEMI JOIN (FROM core_analyses WHERE kind = 'matched_pairs' AND is_made) USING (study)
    WHERE method = 'DECAF'
    GROUP BY study
),
estimates AS (
    SELECT study, 'all' AS method, count(position)::DOUBLE AS pairs,
        2 * pairs / any_value(units) AS coverage,
        sum(is_same_family::INTEGER)::DOUBLE AS same_family_pairs,
        median(m_difference) AS median_m_difference, max(m_difference) AS largest_m_difference,
        max(abs_difference) AS largest_abs_difference
    FROM counted LEFT JOIN (FROM sides WHERE method = 'DECAF') USING (study)
    GROUP BY study
),
judged AS (
    SELECT *, 'matched pairs' AS unit FROM estimates UNPIVOT INCLUDE NULLS (estimate FOR statistic
        IN (pairs, coverage, same_family_pairs, median_m_difference, largest_m_difference,
            largest_abs_difference))
    UNION ALL BY NAME
    SELECT study, method, 'matched pairs' AS unit, 'accuracy' AS statistic, avg(credit) AS estimate
    FROM sides
    GROUP BY ALL
)
SELECT study, method, statistic, estimate, -- count or share
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL THEN 'no matched pair with scores' END AS reason
FROM with_published('judged', 'covertype')
ORDER BY study, method <> 'all', statistic, method;

-- purpose: numbers of a study next to those of the paper
-- grain: one row per row of rel
-- rel names a relation with columns statistic and estimate, and may have unit, method, part and
-- reason; other columns stay. paper is the folder of decaf/studies with the published values.
-- FROM with_published('my_estimates', 'my_study')
CREATE OR REPLACE MACRO with_published(rel, paper) AS TABLE
WITH given AS (
    FROM query_table(rel)
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS unit, NULL::VARCHAR AS method, NULL::VARCHAR AS part,
        NULL::VARCHAR AS reason
    WHERE false
)
SELECT
    given.* EXCLUDE (reason),
    published.value AS published, -- NULL if the paper has no value
    published.lower_95 AS published_lower_95,
    published.upper_95 AS published_upper_95,
    CASE WHEN published.remark IS NULL THEN estimate - published.value END AS difference,
    nullif(concat_ws('; ', given.reason, published.remark), '') AS reason
FROM given
LEFT JOIN core_published AS published
    ON published.study = paper
    AND published.unit = coalesce(given.unit, '')
    AND published.method = coalesce(given.method, '')
    AND published.part = coalesce(given.part, '')
    AND published.statistic = given.statistic;

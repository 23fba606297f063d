-- purpose: every number that the paper publishes, with the best number of our studies and a verdict
-- grain: one row per row of core_published that the paper prints or draws
-- rel names a relation with the columns of comparisons(). Of several numbers for a cell, one from
-- the paper's data counts first, then one of the most models, then one of the largest sample. kind
-- is 'effect' where the statistic has a value of no effect, 'count', or 'measurement'.
-- FROM scoreboard_of('my_comparisons')
CREATE OR REPLACE MACRO scoreboard_of(rel) AS TABLE
WITH best AS (
    SELECT * REPLACE (
        coalesce(unit, '') AS unit, coalesce(method, '') AS method, coalesce(part, '') AS part
    )
    FROM query_table(rel)
    QUALIFY row_number() OVER (
        PARTITION BY paper, unit, method, part, statistic
        ORDER BY estimate IS NULL, is_official DESC, model_count DESC,
            sample_size DESC NULLS LAST, study
    ) = 1
),
cells AS (
    SELECT
        published.* RENAME (study AS paper),
        (SELECT string_agg(needs, '; ' ORDER BY needs) FROM core_needs
            WHERE core_needs.study = published.study
                AND coalesce(core_needs.unit, published.unit) = published.unit
                AND coalesce(core_needs.statistic, published.statistic) = published.statistic
        ) AS needs,
        (SELECT any_value(why) FROM core_no_effect AS read
            WHERE read.study = published.study
                AND coalesce(read.unit, published.unit) = published.unit
                AND (read.method, read.part, read.statistic)
                    = (published.method, published.part, published.statistic)
        ) AS why_no_effect
    FROM core_published AS published
    WHERE place SIMILAR TO '(section|table|figure|appendix).*'
)
SELECT
    cells.paper, place, nullif(unit, '') AS unit, nullif(method, '') AS method,
    nullif(part, '') AS part, statistic, title,
    CASE WHEN unit_of_value = 'count' THEN 'count' WHEN neutral IS NULL THEN 'measurement'
        ELSE 'effect' END AS kind,
    cells.value AS published, cells.lower_95 AS published_lower_95,
    cells.upper_95 AS published_upper_95,
    printed, study, model_count, is_official,
    why AS data, estimate, best.lower_95, best.upper_95,
    CASE WHEN remark IS NULL THEN estimate - cells.value END AS difference,
    verdict_of(estimate, best.lower_95, best.upper_95, cells.value, cells.lower_95,
        cells.upper_95, digits, if(why_no_effect IS NULL, neutral, NULL), needs) AS verdict,
    -- The reason of a number from a paper view already has the remark.
    nullif(concat_ws('; ', coalesce(reason, remark), 'read as no effect: ' || why_no_effect,
        if(estimate IS NULL, 'needs ' || needs, NULL)), '') AS reason,
    cells.position
FROM cells
JOIN core_statistics USING (statistic)
LEFT JOIN best USING (paper, unit, method, part, statistic);

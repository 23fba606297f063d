-- purpose: budgets of DECAF and the baselines, and their share of the paper's budgets
-- grain: one row per study, method and statistic
-- paper: appendix I (measured cost)
-- Settings are those of the current run. Shares compare predicted rows of a model, per audited row
-- if they grow with the table; for shap_interaction they compare explained rows.
CREATE OR REPLACE VIEW paper_covertype_budgets AS
WITH paper AS (
    SELECT method,
        any_value(value) FILTER (statistic = 'explained_rows') AS papers_explained_rows,
        any_value(value) FILTER (statistic = 'rows_per_model') AS papers_rows_per_model
    FROM core_published WHERE study = 'covertype' GROUP BY method
),
planned AS (
    SELECT study,
        unnest(map_entries((config -> '$.baselines')::MAP(VARCHAR, JSON)), recursive := true)
    FROM stg_runs SEMI JOIN core_current_runs USING (study, run_id)
),
settings AS (
    SELECT study,
        if(key IN ('global_permutation', 'context_permutation'), 'permutation', key) AS method,
        max((value ->> '$.background')::DOUBLE) AS background,
        max((value ->> '$.samples')::DOUBLE) AS samples,
        max((value ->> '$.permutations')::DOUBLE) AS permutations,
        max((value ->> '$.repeats')::DOUBLE) AS repeats -- of either permutation
    FROM planned GROUP BY ALL
),
ours AS (
    SELECT one.*, COLUMNS(settings.* EXCLUDE (study, method)),
        -- Rows of these three methods grow with the table.
        one.rows_per_model * if(one.method IN ('DECAF', 'pdp_ale', 'permutation'),
            published_value('covertype', 'data', 'rows') / decaf.explained_rows, 1
        ) AS rows_at_papers_size
    FROM core_covertype_costs AS one
    LEFT JOIN settings USING (study, method)
    LEFT JOIN (FROM core_covertype_costs WHERE method = 'DECAF') AS decaf USING (study)
),
estimates AS (
    SELECT study, method, papers_rows_per_model, papers_explained_rows, unnest([
        {statistic: 'explained_rows', estimate: explained_rows},
        {statistic: 'background', estimate: background},
        {statistic: 'samples', estimate: samples},
        {statistic: 'repeats', estimate: repeats},
        {statistic: 'permutations', estimate: permutations},
        {statistic: 'rows_per_model', estimate: rows_per_model},
        {statistic: 'share_of_papers_budget', estimate: coalesce(
            rows_at_papers_size / papers_rows_per_model, explained_rows / papers_explained_rows)}
    ], recursive := true)
    FROM ours LEFT JOIN paper USING (method)
)
SELECT study, method, statistic,
    estimate, -- a count, or a share
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL
        THEN if(statistic LIKE 'share%', 'the paper gives no rows', 'the method has none')
    END AS reason
FROM with_published('estimates', 'covertype')
ORDER BY study, method <> 'DECAF', method, statistic;

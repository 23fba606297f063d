-- purpose: budgets of DECAF and the baselines as they ran, and their share of the paper's
-- grain: one row per study, method and statistic
-- inputs: core_covertype_costs, core_current_runs, stg_runs
-- paper: appendix I (measured cost)
-- Settings are those of the current run. Shares compare predicted rows of a model, per audited row
-- where they grow with the table; of shap_interaction explained rows.
CREATE OR REPLACE VIEW paper_covertype_budgets AS
WITH paper (method, explained_rows, rows_per_model, grows) AS (
    VALUES ('DECAF', NULL, 192000, true), ('pdp_ale', NULL, 288000, true),
        ('permutation', NULL, 1536000, true), ('lime', NULL, 262144, false),
        ('kernel_shap', NULL, 8388928, false), ('shap_interaction', 128, NULL, false)
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
        one.rows_per_model / decaf.explained_rows AS rows_per_audited_row
    FROM core_covertype_costs AS one
    LEFT JOIN settings USING (study, method)
    LEFT JOIN (FROM core_covertype_costs WHERE method = 'DECAF') AS decaf USING (study)
)
SELECT study, method, statistic,
    estimate, -- a count, or a share
    published, -- NULL where the paper has none
    estimate - published AS difference,
    CASE WHEN estimate IS NULL
        THEN if(statistic LIKE 'share%', 'the paper gives no rows', 'the method has none')
    END AS reason
FROM (
    SELECT study, method, unnest([
        {statistic: 'explained_rows', estimate: ours.explained_rows,
            published: paper.explained_rows::DOUBLE},
        {statistic: 'background', estimate: background},
        {statistic: 'samples', estimate: samples},
        {statistic: 'repeats', estimate: repeats},
        {statistic: 'permutations', estimate: permutations},
        {statistic: 'rows_per_model', estimate: ours.rows_per_model,
            published: paper.rows_per_model::DOUBLE},
        {statistic: 'share_of_papers_budget',
            estimate: coalesce(
                if(grows, rows_per_audited_row * 48000, ours.rows_per_model) / paper.rows_per_model,
                ours.explained_rows / paper.explained_rows
            ),
            published: if(paper.method IS NULL, NULL, 1.0)}
    ], recursive := true)
    FROM ours LEFT JOIN paper USING (method)
)
ORDER BY study, method <> 'DECAF', method, statistic;

-- purpose: whether classifiers that respond more on a score show more of a behaviour: Spearman
-- grain: one row per study, behaviour and method
-- inputs: core_covertype_outcomes, covertype_scores, nested_spearman
-- paper: section 5 (cross-model transfer); appendix I (complete ranks)
-- Preservation and inversion rank the models of the direction module, null change those of the
-- fragility module; models without a score or a rate are left out. Intervals draw clusters of a
-- family and a seed, 500 times with seed 7601; nothing is nested in them.
CREATE OR REPLACE VIEW paper_covertype_ranks AS
WITH paper (method, rhos, lowers, uppers, counts) AS (
    VALUES ('DECAF', [0.864154, 0.986787, 0.9741138295203292], [0.8318, 0.9725, 0.9416],
            [0.8955, 0.9967, 0.9883], [90, 90, 45]),
        ('M', [0.657, -0.001, 0.148], NULL, NULL, [90, 90, 45]),
        ('Abs', [0.804, -0.207, 0.588], NULL, NULL, [90, 90, 45]),
        ('Net', [0.878, -0.353, 0.043], NULL, NULL, [90, 90, 45]),
        ('SignFlip', [-0.919, 0.888, 0.842], NULL, NULL, [78, 78, 39]),
        ('OppMass', [-0.412, 0.974, 0.965], NULL, NULL, [90, 90, 45]),
        ('native_shap', [0.781, -0.205, 0.481], NULL, NULL, [90, 90, 45]),
        ('shap_interaction', [-0.251, 0.093, 0.069], NULL, NULL, [54, 54, 27]),
        ('kernel_shap', [0.811, -0.219, 0.441], NULL, NULL, [30, 30, 15]),
        ('global_permutation', [0.664, -0.029, 0.676], NULL, NULL, [90, 90, 45]),
        ('context_permutation', [0.298, 0.311, 0.739], NULL, NULL, [90, 90, 45]),
        ('pdp_ale', [-0.100, 0.827, 0.937], NULL, NULL, [90, 90, 45]),
        ('lime', [0.845, -0.384, 0.506], NULL, NULL, [30, 30, 15])
),
models AS MATERIALIZED (FROM core_covertype_outcomes),
ranked AS MATERIALIZED (
    SELECT {study: study, method: method, part: part} AS g,
        family || ' ' || seed AS outer_cluster, 0 AS inner_cluster, score AS x,
        [preserve_rate, invert_rate, null_change_rate][part] AS y
    FROM (
        SELECT *, list_position(['evidence', 'contradiction', 'fragility'], label) AS part
        FROM covertype_scores('models')
    )
    WHERE (label = 'fragility') = (module = 'fragility')
),
found AS (SELECT unnest(g), * EXCLUDE (g) FROM nested_spearman('ranked', 500, 7601))
SELECT
    study,
    ['preservation', 'inversion', 'null_change'][part] AS behaviour,
    method, -- DECAF ranks by E, by C and by F
    entry_count AS model_count, -- with a score and a rate
    counts[part] AS published_count,
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    rhos[part]::DOUBLE AS published, -- NULL where the paper has none, as the two that follow
    lowers[part]::DOUBLE AS published_lower_95,
    uppers[part]::DOUBLE AS published_upper_95,
    estimate - published AS difference,
    reason -- why the estimate, or its interval, is NULL
FROM found
LEFT JOIN paper USING (method)
ORDER BY study, part, method <> 'DECAF', method;

-- purpose: correlation of a score with a behaviour over classifiers: Spearman
-- grain: one row per study, behaviour and method
-- paper: section 5 (cross-model transfer); appendix I (complete ranks)
-- Preservation and inversion are over models of the direction module, null change over those of the
-- fragility module, without models that lack a score or a rate. Intervals draw clusters of a family
-- and a seed, 500 times with seed 7601.
CREATE OR REPLACE VIEW paper_covertype_ranks AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
ranked AS MATERIALIZED (
    SELECT
        {
            study: study, method: method, part: CASE label WHEN 'evidence' THEN 'preservation'
                WHEN 'contradiction' THEN 'inversion' ELSE 'null_change' END
        } AS g,
        family || ' ' || seed AS cluster, score AS x,
        CASE label WHEN 'evidence' THEN preserve_rate WHEN 'contradiction' THEN invert_rate
            ELSE null_change_rate END AS y
    FROM covertype_scores('models')
    WHERE (label = 'fragility') = (module = 'fragility')
),
judged AS (
    SELECT unnest(g), * EXCLUDE (g), 'rank_correlation' AS statistic
    FROM spearman_intervals('ranked', 500, 7601)
),
counts AS (
    SELECT method, part, value::INTEGER AS published_count
    FROM core_published
    WHERE study = 'covertype' AND statistic = 'model_count'
)
SELECT
    study,
    part AS behaviour,
    method, -- the scores of DECAF are E, C and F
    entry_count AS model_count, -- models with a score and a rate
    published_count,
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value, like the next two
    published_lower_95,
    published_upper_95,
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM with_published('judged', 'covertype')
LEFT JOIN counts USING (method, part)
ORDER BY study, list_position(['preservation', 'inversion', 'null_change'], part),
    method <> 'DECAF', method;

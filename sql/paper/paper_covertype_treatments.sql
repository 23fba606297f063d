-- purpose: whether a component tracks its behaviour among models of one treatment: Spearman
-- grain: one row per study, mechanism, behaviour and family (or all)
-- inputs: core_covertype_outcomes, spearman
-- paper: appendix I, after (the same treatment, different mechanisms)
-- A treatment of the direction module is judged by E and preservation and by C and inversion, one
-- of the fragility module by F and null change. A family has few models here: no intervals.
CREATE OR REPLACE VIEW paper_covertype_treatments AS
WITH paper (family, published) AS (
    VALUES ('all', 0.922), ('hist_gradient_boosting', 0.997), ('random_forest', 0.992),
        ('xgboost', 0.971), ('mlp', 0.940)
),
models AS MATERIALIZED (FROM core_covertype_outcomes),
paired AS (
    SELECT study, mechanism, family, 'preservation' AS behaviour, evidence AS x, preserve_rate AS y
    FROM models
    WHERE module = 'direction'
    UNION ALL
    SELECT study, mechanism, family, 'inversion', contradiction, invert_rate
    FROM models
    WHERE module = 'direction'
    UNION ALL
    SELECT study, mechanism, family, 'null_change', fragility, null_change_rate
    FROM models
    WHERE module = 'fragility'
),
entries AS (
    SELECT
        {study: study, mechanism: mechanism, behaviour: behaviour, family: unnest([family, 'all'])}
            AS g,
        x,
        y
    FROM paired
)
SELECT
    g.study AS study,
    g.mechanism AS mechanism,
    g.behaviour AS behaviour,
    g.family AS family,
    entry_count AS model_count, -- with a score and a rate
    spearman AS estimate,
    published::DOUBLE AS published, -- NULL where the paper has none
    estimate - published AS difference,
    reason -- why the estimate is NULL
FROM spearman_by_group('entries')
LEFT JOIN paper
    ON paper.family = g.family AND g.mechanism = 'invert' AND g.behaviour = 'inversion'
ORDER BY g.study, g.mechanism, g.behaviour, g.family = 'all' DESC, g.family;

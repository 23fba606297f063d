-- purpose: correlation of a component with its behaviour among models of one treatment: Spearman
-- grain: one row per study, mechanism, behaviour and family (or all)
-- paper: appendix I, after (the same treatment, different mechanisms)
-- In the direction module, E goes with preservation and C with inversion; in the fragility module,
-- F goes with null change. A family has too few models for intervals.
CREATE OR REPLACE VIEW paper_covertype_treatments AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
paired AS (
    SELECT study, mechanism, family, module, unnest([
        {behaviour: 'preservation', judges: 'direction', x: evidence, y: preserve_rate},
        {behaviour: 'inversion', judges: 'direction', x: contradiction, y: invert_rate},
        {behaviour: 'null_change', judges: 'fragility', x: fragility, y: null_change_rate}
    ], recursive := true)
    FROM models
),
entries AS (
    SELECT
        {study: study, mechanism: mechanism, behaviour: behaviour, family: unnest([family, 'all'])}
            AS g,
        x,
        y
    FROM paired
    WHERE module = judges
),
judged AS (
    SELECT unnest(g), * EXCLUDE (g, spearman), spearman AS estimate, g.family AS unit,
        -- The paper has this one.
        if(g.behaviour = 'inversion', g.mechanism, NULL) AS part, 'rank_correlation' AS statistic
    FROM spearman_by_group('entries')
)
SELECT
    study,
    mechanism,
    behaviour,
    family,
    entry_count AS model_count, -- models with a score and a rate
    estimate,
    published, -- NULL if the paper has no value
    difference,
    reason -- why the estimate is NULL
FROM with_published('judged', 'covertype')
ORDER BY study, mechanism, behaviour, family = 'all' DESC, family;

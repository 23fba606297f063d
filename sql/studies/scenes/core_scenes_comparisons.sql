-- purpose: numbers of studies of controlled scenes for the values of the paper
-- grain: one row per study and value of the paper
-- paper: section 5; appendices D and E
-- Stages have the measure alpha; fragility is that of all models of a variant.
CREATE OR REPLACE VIEW core_scenes_comparisons AS
WITH given AS (
    SELECT *, 'base' AS experiment FROM paper_base_data
    UNION ALL
    SELECT *, 'evidence' FROM paper_evidence_data
    UNION ALL
    SELECT *, 'contradiction' FROM paper_contradiction_data
    UNION ALL
    SELECT *, 'fragility' FROM paper_fragility_data
),
numbers AS (
    SELECT study, experiment AS unit, unnest(['trainings', 'sources']) AS statistic,
        unnest([training_count, source_count])::DOUBLE AS estimate
    FROM given
    UNION ALL BY NAME
    SELECT study, class AS unit, statistic, estimate, lower_95, upper_95, reason
    FROM paper_base_composition
    UNION ALL BY NAME
    SELECT study, factor AS unit, metric AS statistic, estimate, lower_95, upper_95, reason
    FROM paper_base_overview
    WHERE measure = 'alpha'
    UNION ALL BY NAME
    SELECT study, method, statistic, estimate, lower_95, upper_95, reason FROM paper_base_false_null
    UNION ALL BY NAME
    SELECT study, scope AS unit, margin AS part, statistic, estimate, lower_95, upper_95, reason
    FROM paper_evidence_correlations
    UNION ALL BY NAME
    SELECT study, 'swap' AS unit, metric AS part, 'rank_correlation' AS statistic, estimate,
        lower_95, upper_95, reason
    FROM paper_contradiction_correlations
    UNION ALL BY NAME
    SELECT study, task AS unit, family AS method, 'eta ' || eta AS part, statistic, estimate,
        lower_95, upper_95, reason
    FROM paper_contradiction_mixture
    UNION ALL BY NAME
    SELECT study, task AS unit, model_id AS part, statistic, estimate, reason
    FROM paper_contradiction_models
    UNION ALL BY NAME
    SELECT study, family AS unit, variant AS part, 'fragility' AS statistic, estimate, lower_95,
        upper_95, reason
    FROM paper_fragility_variants
    WHERE models = 'all'
    UNION ALL BY NAME
    SELECT study, variant AS unit, family AS method, 'seed ' || seed AS part, statistic, estimate,
        reason
    FROM paper_fragility_models
    JOIN (SELECT study, model_id, seed FROM core_scene_fragility) USING (study, model_id)
)
SELECT 'scenes' AS paper, numbers.*, source_count AS sample_size, is_official, why -- of the data
FROM numbers
JOIN given USING (study);

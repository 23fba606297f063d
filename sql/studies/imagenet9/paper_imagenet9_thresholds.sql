-- purpose: effect of three endpoint thresholds: means, shares of Abs, and ratios patch to blend
-- grain: one row per study of ImageNet-9, pair type, epsilon, path, statistic and metric
-- paper: appendix G, figure 11b (threshold sensitivity)
-- A share is the mean of E, C or F over models, divided by the mean of Abs; the three sum to 1.
-- Intervals resample models. The paper prints no number of this figure; paper_imagenet9_protocol
-- has its ratios at 0.02.
CREATE OR REPLACE VIEW paper_imagenet9_thresholds AS
WITH swept AS (FROM epsilon_sweep([0.01, 0.02, 0.05])),
levels AS MATERIALIZED (
    SELECT study, protocol, place, model_id, pair_type, path, epsilon, metric, mean
    FROM swept
    UNPIVOT (mean FOR metric IN (
        active_frac, evidence, contradiction, fragility, abs_response
    ))
    JOIN core_protocol_paths USING (study, path)
    SEMI JOIN paper_imagenet9_data USING (study)
),
blend AS (FROM levels WHERE protocol = 'blend' AND place = 1),
whole AS (FROM levels WHERE metric = 'abs_response'),
compared AS (
    SELECT levels.*, 'ratio to blend' AS kind, 'on the blend' AS base,
        CASE WHEN levels.protocol <> 'blend' THEN blend.mean END AS other
    FROM levels
    LEFT JOIN blend USING (study, model_id, pair_type, epsilon, metric)
    UNION ALL
    SELECT levels.*, 'share of Abs', 'of Abs', whole.mean
    FROM levels
    JOIN whole USING (study, model_id, pair_type, path, epsilon)
    WHERE levels.metric IN ('evidence', 'contradiction', 'fragility')
),
entries AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, epsilon: epsilon::VARCHAR, path: path,
            metric: metric, kind: kind, base: base
        } AS g,
        model_id AS cluster, mean AS x, other AS y
    FROM compared
)
SELECT
    g.study AS study, g.pair_type AS pair_type, g.epsilon AS epsilon, g.path AS path,
    g.metric AS metric,
    CASE statistic WHEN 'ratio' THEN g.kind ELSE statistic END AS statistic,
    estimate, -- share of pairs (active_frac), score units, or ratio
    lower_90, upper_90, lower_95, upper_95,
    NULL::DOUBLE AS published,
    CASE reason WHEN 'the mean of y is 0' THEN 'the mean ' || g.base || ' is 0'
        ELSE replace(reason, 'cluster', 'model') END AS reason
FROM bootstrap_intervals('entries', 500, 91702)
WHERE statistic = 'ratio' OR (statistic = 'mean' AND g.kind = 'ratio to blend')
ORDER BY g.study, g.pair_type, g.epsilon, g.path, statistic, g.metric;

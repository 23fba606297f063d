-- purpose: what the patch path does to every response: ratio of means over models, patch to blend
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- inputs: core_protocol_pairs, paper_imagenet9_data, bootstrap
-- paper: section 6.3, figure 4a (response composition)
-- Intervals resample models. The paper's order is A, the first patches path ranked by energy. For
-- contradiction its text says about 1.8, so that there is no difference, for evidence no number.
CREATE OR REPLACE VIEW paper_imagenet9_protocol AS
WITH published (pair_type, metric, published, remark, place_b, protocol_b) AS (
    SELECT *, 1, 'patch'
    FROM (
        VALUES
            ('same_rand', 'abs_response', 1.7372284770086692::DOUBLE, NULL),
            ('same_rand', 'contradiction', 1.8, 'the paper says about 1.8'),
            ('same_rand', 'fragility', 4.3762687997406715, NULL),
            ('same_next', 'abs_response', 1.7929210632916266, NULL),
            ('same_next', 'contradiction', 1.8, 'the paper says about 1.8'),
            ('same_next', 'fragility', 4.70751149983746, NULL)
    )
),
paired AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b,
            place_b: place_b, protocol_b: protocol_b
        } AS g,
        model_id AS cluster,
        mean_b AS x,
        mean_a AS y
    FROM core_protocol_pairs SEMI JOIN paper_imagenet9_data USING (study)
    WHERE protocol_a = 'blend'
),
ratios AS (
    SELECT
        unnest(g),
        any_value(estimate) AS estimate,
        any_value(lower_limit) FILTER (level = 0.9) AS lower_90,
        any_value(upper_limit) FILTER (level = 0.9) AS upper_90,
        any_value(lower_limit) FILTER (level = 0.95) AS lower_95,
        any_value(upper_limit) FILTER (level = 0.95) AS upper_95,
        any_value(reason) AS reason
    FROM bootstrap_by_group('paired', 500, 91702, [0.9, 0.95])
    WHERE statistic = 'ratio'
    GROUP BY g
)
SELECT
    study, pair_type, metric,
    path_a, -- the blend
    path_b, -- the patch order
    estimate, -- mean over models on path_b, over that on path_a
    lower_90, upper_90, lower_95, upper_95,
    published, -- of the official data
    CASE WHEN remark IS NULL THEN estimate - published END AS difference,
    nullif(concat_ws('; ', CASE reason WHEN 'the mean of y is 0' THEN 'the mean on path_a is 0'
        WHEN 'a single cluster' THEN 'a single model' ELSE reason END, remark), '') AS reason
FROM ratios
LEFT JOIN published USING (pair_type, metric, place_b, protocol_b)
ORDER BY study, pair_type, path_b, metric;

-- purpose: ratio of means over models, patch path to blend
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- paper: section 6.3, figure 4a (response composition)
-- published: scan
-- Intervals resample models. The paper's order is A, the first patches path ranked by energy. Its
-- text gives about 1.8 for contradiction; that evidence is close to the blend (1) has no
-- difference.
CREATE OR REPLACE VIEW paper_imagenet9_protocol AS
WITH paired AS MATERIALIZED (
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
    SELECT unnest(g), * EXCLUDE (g, reason),
        CASE reason WHEN 'the mean of y is 0' THEN 'the mean on path_a is 0'
            ELSE replace(reason, 'cluster', 'model') END AS reason
    FROM bootstrap_intervals('paired', 500, 91702)
    WHERE statistic = 'ratio'
),
judged AS (
    -- The paper's values are those of order A.
    SELECT *, pair_type AS unit, metric AS part, if(place_b = 1, protocol_b, NULL) AS method
    FROM ratios
)
SELECT
    study, pair_type, metric,
    path_a, -- the blend
    path_b, -- the patch order
    estimate, -- mean over models on path_b, over that on path_a
    lower_90, upper_90, lower_95, upper_95,
    published, -- of the official data
    difference, reason
FROM with_published('judged', 'imagenet9')
ORDER BY study, pair_type, path_b, metric;

-- purpose: rank correlation of models between the blend and each patch order: Spearman
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- paper: section 6.3, figure 4b (rank transfer)
-- published: scan
-- Intervals resample models. The paper's order is A. For contradiction of both pair types, its text
-- only says "near 0.93", so there is no difference.
CREATE OR REPLACE VIEW paper_imagenet9_rank_transfer AS
WITH paired AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b,
            place_b: place_b, protocol_b: protocol_b
        } AS g,
        model_id AS cluster,
        -- Rounded so that equal means are ties.
        round(mean_a, 12) AS x,
        round(mean_b, 12) AS y
    FROM core_protocol_pairs SEMI JOIN paper_imagenet9_data USING (study)
    WHERE protocol_a = 'blend'
),
judged AS (
    -- The paper's values are those of order A.
    SELECT unnest(g), * EXCLUDE (g), 'rank_correlation' AS statistic, g.pair_type AS unit,
        g.metric AS part, if(g.place_b = 1, g.protocol_b, NULL) AS method
    FROM spearman_intervals('paired', 500, 91702)
)
SELECT
    study, pair_type, metric,
    path_a, -- the blend
    path_b, -- the patch order
    estimate,
    lower_90, upper_90, lower_95, upper_95,
    published, -- of the official data
    difference, reason
FROM with_published('judged', 'imagenet9')
ORDER BY study, pair_type, path_b, metric;

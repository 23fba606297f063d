-- purpose: whether models rank alike on the blend and on each patch order: Spearman correlation
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- inputs: paper_imagenet9_data, rank_transfer_of_models, beside_published
-- paper: section 6.3, figure 4b (rank transfer)
-- Intervals resample models. The paper's order is A; near 0.93 is all its text says of both pair
-- types' contradiction, so that there is no difference.
CREATE OR REPLACE VIEW paper_imagenet9_rank_transfer AS
WITH judged AS (
    -- The paper's values are of order A.
    SELECT *, spearman AS estimate, 'rank_correlation' AS statistic, pair_type AS unit,
        metric AS part, if(place_b = 1, protocol_b, NULL) AS method
    FROM rank_transfer_of_models(500, 91702)
    SEMI JOIN paper_imagenet9_data USING (study)
    WHERE protocol_a = 'blend'
)
SELECT
    study, pair_type, metric,
    path_a, -- the blend
    path_b, -- the patch order
    estimate,
    lower_90, upper_90, lower_95, upper_95,
    published, -- of the official data
    difference, reason
FROM beside_published('judged', 'imagenet9')
ORDER BY study, pair_type, path_b, metric;

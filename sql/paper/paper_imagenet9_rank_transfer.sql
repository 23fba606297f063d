-- purpose: whether models rank alike on the blend and on each patch order: Spearman correlation
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- inputs: paper_imagenet9_data, rank_transfer_of_models
-- paper: section 6.3, figure 4b (rank transfer)
-- Intervals resample models. The paper's order is A; near 0.93 is all its text says of both pair
-- types' contradiction, so that there is no difference.
CREATE OR REPLACE VIEW paper_imagenet9_rank_transfer AS
WITH published (pair_type, metric, published, remark, place_b, protocol_b) AS (
    SELECT *, 1, 'patch'
    FROM (
        VALUES
            ('same_rand', 'evidence', 0.86::DOUBLE, NULL),
            ('same_rand', 'contradiction', 0.93, 'the paper says near 0.93'),
            ('same_rand', 'fragility', 0.69, NULL),
            ('same_rand', 'abs_response', 0.17, NULL),
            ('same_next', 'evidence', 0.77, NULL),
            ('same_next', 'contradiction', 0.93, 'the paper says near 0.93'),
            ('same_next', 'fragility', 0.71, NULL),
            ('same_next', 'abs_response', 0.26, NULL)
    )
)
SELECT
    study,
    pair_type,
    metric,
    path_a, -- the blend
    path_b, -- the patch order
    spearman AS estimate,
    lower_90,
    upper_90,
    lower_95,
    upper_95,
    published, -- of the official data
    CASE WHEN remark IS NULL THEN estimate - published END AS difference,
    nullif(concat_ws('; ', reason, remark), '') AS reason
FROM rank_transfer_of_models(500, 91702)
SEMI JOIN paper_imagenet9_data USING (study)
LEFT JOIN published USING (pair_type, metric, place_b, protocol_b)
WHERE protocol_a = 'blend'
ORDER BY study, pair_type, path_b, metric;

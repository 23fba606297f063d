-- purpose: whether models rank alike on the blend and on each patch order: Spearman correlation
-- grain: one row per study of ImageNet-9, pair type, metric and patch order
-- inputs: paper_imagenet9_data, rank_transfer_of_models
-- paper: section 6.3, figure 4b (rank transfer)
-- Intervals resample models. The paper's order is A; near 0.93 is all its text says of both pair
-- types' contradiction.
CREATE OR REPLACE VIEW paper_imagenet9_rank_transfer AS
WITH published (pair_type, metric, place_b, protocol_b, published) AS (
    VALUES
        ('same_rand', 'evidence', 1, 'patch', 0.86::DOUBLE),
        ('same_rand', 'contradiction', 1, 'patch', 0.93),
        ('same_rand', 'fragility', 1, 'patch', 0.69),
        ('same_rand', 'abs_response', 1, 'patch', 0.17),
        ('same_next', 'evidence', 1, 'patch', 0.77),
        ('same_next', 'contradiction', 1, 'patch', 0.93),
        ('same_next', 'fragility', 1, 'patch', 0.71),
        ('same_next', 'abs_response', 1, 'patch', 0.26)
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
    estimate - published AS difference,
    reason
FROM rank_transfer_of_models(500, 91702)
SEMI JOIN paper_imagenet9_data USING (study)
LEFT JOIN published USING (pair_type, metric, place_b, protocol_b)
WHERE protocol_a = 'blend'
ORDER BY study, pair_type, path_b, metric;

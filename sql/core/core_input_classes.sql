-- purpose: inputs of pairs with their true class
-- grain: one row per study, pairs_digest and image
-- paper: appendix F.2
-- The class of a pair is that of its factual input. A change that should matter may change the
-- class, so the class of an input that is only the counterfactual of such pairs is unknown.
CREATE OR REPLACE VIEW core_input_classes AS
WITH sides AS (
    SELECT
        study, pairs_digest, source_id, class_id,
        plus_image AS image_id,
        plus_variant AS variant,
        true AS is_factual
    FROM stg_pairs
    UNION ALL
    SELECT
        pair.study, pairs_digest, source_id, if(expect = 'should_matter', NULL, class_id),
        minus_image, minus_variant, false
    FROM stg_pairs AS pair
    LEFT JOIN core_display_names AS names
        ON names.study = pair.study AND kind = 'pair_type' AND name = pair_type
)
SELECT
    study,
    pairs_digest,
    image_id,
    min(source_id) AS source_id, -- first by name
    min(variant) AS variant, -- kind of image
    coalesce(min(class_id) FILTER (is_factual), min(class_id)) AS class_id,
    bool_or(is_factual) AS is_factual -- the factual input of a pair
FROM sides
GROUP BY study, pairs_digest, image_id;

-- purpose: pairs that change a feature of an image, in studies that compare attribution methods
-- grain: one row per study with attribution methods, and pair with a feature
-- paper: section 7; appendix H (protocol and strict common support)
-- The operator is deletion if both inputs are one image; otherwise the pair type begins with it, as
-- in telea__beak. The effect of an operator is the target: protocol native for the operator native,
-- held_out for other operators, deletion if the study has no other operator. The path is the first
-- one of the study that reveals such pairs.
CREATE OR REPLACE VIEW core_attribution_pairs AS
WITH featured AS MATERIALIZED (
    SELECT study, run_id, pair.pair_id, pair.pair_type, plus_image, minus_image, class_id, feature,
        if(plus_image = minus_image, 'deletion', split_part(pair_type, '__', 1)) AS operator
    FROM core_pairs AS pair
    JOIN core_current_runs USING (study, run_id)
    JOIN stg_features AS feature USING (study, pairs_digest, pair_id)
    SEMI JOIN (FROM core_measurements WHERE kind = 'attributions') USING (study)
),
types AS (
    SELECT study, path, position, pair_type
    FROM core_paths
    JOIN (SELECT DISTINCT study, pair_type FROM featured) USING (study)
    WHERE pair_types IS NULL OR list_contains(pair_types, pair_type)
    QUALIFY position = min(position) OVER (PARTITION BY study)
)
SELECT
    study,
    run_id,
    pair_id,
    plus_image AS image_id,
    minus_image,
    feature, -- its number, from 1
    operator, -- deletion, native, telea, texture or another
    CASE
        WHEN operator = 'native' THEN 'native'
        WHEN operator <> 'deletion' THEN 'held_out'
        WHEN count_if(operator <> 'deletion') OVER (PARTITION BY study) = 0 THEN 'deletion'
    END AS protocol, -- NULL if the pair is no target
    path, -- NULL if the path does not reveal the pair
    row_number() OVER (
        PARTITION BY study, plus_image, feature
        ORDER BY path IS NULL, operator <> 'deletion', pair_id
    ) = 1 AS is_leading -- one pair per feature, on the path if possible
FROM featured
LEFT JOIN types USING (study, pair_type);

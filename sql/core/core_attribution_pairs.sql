-- purpose: pairs about features of images, of the studies that compare attribution methods
-- grain: one row per study with attribution methods, and pair with a feature
-- paper: section 7; appendix H (protocol and strict common support)
-- A pair of an image with itself is its own deletion; of any other, the type begins with the
-- operator, as in telea__beak. What operators do is the target, by protocol: native, or held_out of
-- all others; deletion is the target where a study has nothing else. The path is the first of the
-- study that reveals such pairs; a feature leads with the pair that it reveals.
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
    END AS protocol, -- NULL if the pair is not a target
    path, -- NULL where the path does not reveal it
    row_number() OVER (
        PARTITION BY study, plus_image, feature
        ORDER BY path IS NULL, operator <> 'deletion', pair_id
    ) = 1 AS is_leading
FROM featured
LEFT JOIN types USING (study, pair_type);

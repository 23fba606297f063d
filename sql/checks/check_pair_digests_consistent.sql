-- purpose: all models of a run were shown the same pairs, and every input of a pair has a digest
-- grain: one row per block of pairs that differs between models, and per input without a digest
-- inputs: core_shards, core_pairs, core_images
-- paper: none
WITH inputs AS (
    SELECT study, unnest([plus_image, minus_image]) AS image_id FROM core_pairs
),
breaches AS (
    SELECT
        study, format('block {}', block) AS key,
        format('{} digests of its pairs', count(DISTINCT pairs_digest)) AS found,
        'the same pairs for every model' AS expected
    FROM core_shards
    GROUP BY study, block
    HAVING count(DISTINCT pairs_digest) > 1
    UNION ALL
    SELECT DISTINCT study, image_id, 'no digest', 'one of every input of a pair'
    FROM inputs
    ANTI JOIN core_images USING (study, image_id)
)
SELECT
    'check_pair_digests_consistent' AS check_name, study, NULL::VARCHAR AS model_id, key, found,
    expected
FROM breaches;

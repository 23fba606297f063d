-- purpose: units of a block are of the same pairs, whatever their model; their inputs have digests
-- grain: one row per block of pairs that differs between units, and per input without a digest
WITH inputs AS (
    SELECT study, unnest([plus_image, minus_image]) AS image_id FROM core_pairs
),
breaches AS (
    SELECT
        study, format('block {}', block) AS key,
        format('{} digests of its pairs', count(DISTINCT value)) AS found,
        'the same pairs for every unit' AS expected
    FROM core_run_units JOIN stg_unit_parts USING (study, run_id, unit_key)
    WHERE part = 'pairs' AND block IS NOT NULL
    GROUP BY study, block
    HAVING count(DISTINCT value) > 1
    UNION ALL
    SELECT DISTINCT study, image_id, 'no digest', 'one of every input of a pair'
    FROM inputs
    ANTI JOIN core_images USING (study, image_id)
)
SELECT
    'check_pair_digests_consistent' AS check_name, study, NULL::VARCHAR AS model_id, key, found,
    expected
FROM breaches;

-- purpose: units of a block have the same pairs for every model, and their inputs have digests
-- grain: one row per block of pairs that differs between units, and per input without a digest
-- Units of paths with `pair_types` are compared with units of paths with the same types.
WITH inputs AS (
    SELECT study, plus_image AS image_id FROM core_pairs
    UNION ALL SELECT study, minus_image FROM core_pairs
),
digests AS (
    SELECT unit.study, unit.block, part.value, list_sort(path.pair_types) AS pair_types
    FROM core_run_units AS unit
    JOIN stg_unit_parts AS part USING (study, run_id, unit_key)
    LEFT JOIN core_paths AS path
        ON unit.kind = 'score' AND path.study = unit.study AND path.path = unit.name
    WHERE part.part = 'pairs' AND unit.block IS NOT NULL
),
breaches AS (
    SELECT
        study, format('block {}', block) AS key,
        format('{} digests of its pairs', count(DISTINCT value)) AS found,
        'the same pairs for every unit' AS expected
    FROM digests
    GROUP BY study, block, pair_types
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

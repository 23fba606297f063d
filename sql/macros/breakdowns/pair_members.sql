-- purpose: groups of pairs by what is said of each: class, split, kind of either input, own groups
-- grain: one row per study, pair and grouping that divides the pairs of its type
-- A class has the name that the data give it, else its number. pair_place tells pairs of a study
-- apart: numbers are counted many times faster than names.
-- FROM pair_members()
CREATE OR REPLACE MACRO pair_members() AS TABLE
WITH named AS (
    SELECT
        study,
        run_id,
        pair_id,
        pair_type,
        coalesce(name, class_id::VARCHAR) AS class,
        split,
        plus_variant AS factual,
        minus_variant AS counterfactual,
        row_number() OVER (PARTITION BY study)::INTEGER AS pair_place
    FROM core_pairs
    LEFT JOIN stg_class_names USING (study, run_id, class_id)
),
members AS (
    SELECT study, pair_id, pair_place, pair_type, grouping, member
    FROM named
    UNPIVOT (member FOR grouping IN (class, split, factual, counterfactual))
    UNION ALL
    SELECT study, pair_id, pair_place, pair_type, grouping, member
    FROM named
    JOIN stg_runs USING (study, run_id)
    JOIN stg_pair_groups USING (study, pairs_digest, pair_id)
),
dividing AS (
    SELECT study, pair_type, grouping
    FROM members
    GROUP BY study, pair_type, grouping
    HAVING min(member) <> max(member)
)
SELECT study, pair_id, pair_place, grouping, member
FROM members
SEMI JOIN dividing USING (study, pair_type, grouping);

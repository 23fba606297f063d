-- purpose: groups of pairs by what is said of each: class, split, kind of either input, own groups
-- grain: one row per study, pair and grouping that divides the pairs of its type
-- A class has the name that the data give it, else its number.
-- FROM pair_members()
CREATE OR REPLACE MACRO pair_members() AS TABLE
WITH named AS (
    SELECT
        study,
        pair_id,
        pair_type,
        coalesce(name, class_id::VARCHAR) AS class,
        split,
        plus_variant AS factual,
        minus_variant AS counterfactual
    FROM core_pairs
    LEFT JOIN stg_class_names USING (study, run_id, class_id)
),
members AS (
    SELECT study, pair_id, pair_type, grouping, member
    FROM named
    UNPIVOT (member FOR grouping IN (class, split, factual, counterfactual))
    UNION ALL
    SELECT study, pair_id, pair_type, grouping, member
    FROM core_pairs
    JOIN stg_runs USING (study, run_id)
    JOIN stg_pair_groups USING (study, pairs_digest, pair_id)
)
SELECT study, pair_id, grouping, member
FROM members
WINDOW own AS (PARTITION BY study, pair_type, grouping)
QUALIFY min(member) OVER own <> max(member) OVER own;

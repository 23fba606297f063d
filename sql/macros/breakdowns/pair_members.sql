-- purpose: members of groupings of pairs: class, split, kinds of inputs, and groups of the data
-- grain: one row per study, pair and grouping that divides the pairs of its type
-- A class has its name in the data, or its number. place numbers sources by name, and pair_place
-- numbers pairs: DuckDB counts distinct numbers many times faster than names.
-- FROM pair_members()
CREATE OR REPLACE MACRO pair_members() AS TABLE
WITH named AS (
    SELECT
        study, run_id, pair_id, place, pair_type,
        coalesce(name, class_id::VARCHAR) AS class,
        split,
        plus_variant AS factual,
        minus_variant AS counterfactual,
        row_number() OVER ()::INTEGER AS pair_place
    FROM core_pairs
    JOIN core_source_order USING (study, source_id)
    LEFT JOIN stg_class_names USING (study, run_id, class_id)
),
-- Before rows are unpivoted, since most groupings divide nothing.
divides AS (
    SELECT
        study, pair_type,
        min(class) <> max(class) AS by_class,
        min(split) <> max(split) AS by_split,
        min(factual) <> max(factual) AS by_factual,
        min(counterfactual) <> max(counterfactual) AS by_counterfactual
    FROM named
    GROUP BY study, pair_type
),
own AS (
    SELECT
        study, pair_id, place, pair_place,
        if(by_class, class, NULL) AS class,
        if(by_split, split, NULL) AS split,
        if(by_factual, factual, NULL) AS factual,
        if(by_counterfactual, counterfactual, NULL) AS counterfactual
    FROM named JOIN divides USING (study, pair_type)
),
further AS (
    SELECT study, pair_id, place, pair_place, pair_type, grouping, member
    FROM named
    JOIN stg_runs USING (study, run_id)
    JOIN stg_pair_groups USING (study, pairs_digest, pair_id)
),
dividing AS (
    SELECT study, pair_type, grouping
    FROM further
    GROUP BY study, pair_type, grouping
    HAVING min(member) <> max(member)
)
SELECT study, pair_id, place, pair_place, grouping, member
FROM own
UNPIVOT (member FOR grouping IN (class, split, factual, counterfactual))
UNION ALL
SELECT study, pair_id, place, pair_place, grouping, member
FROM further
SEMI JOIN dividing USING (study, pair_type, grouping);

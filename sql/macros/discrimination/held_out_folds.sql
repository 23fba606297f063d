-- purpose: leave one group out: what every fold can train and test on, label by label
-- grain: one row per held-out group and label
-- inputs: none
-- paper: section 6.2 (leave-one-family-out probes)
-- rel names a relation with columns g (the group, such as a model family) and labels (list of 0 or
-- 1, one per behaviour). A fold with one class on either side is undefined, for the reason given.
-- FROM held_out_folds('my_units')
CREATE OR REPLACE MACRO held_out_folds(rel) AS TABLE
WITH units AS (
    SELECT
        g,
        CASE
            WHEN len(list_filter(labels, lambda label: label IN (0, 1))) = len(labels)
                AND len(labels) = max(len(labels)) OVER () THEN labels
            ELSE error('held_out_folds: labels are ' || coalesce(labels::VARCHAR, 'NULL')
                || '; expected 0 or 1 for every behaviour, as many as in the other rows')
        END AS labels
    FROM query_table(rel)
),
entries AS (
    SELECT g, generate_subscripts(labels, 1) - 1 AS label, unnest(labels) AS is_positive FROM units
),
groups AS (
    SELECT g, label, count(*) AS test_count, sum(is_positive)::BIGINT AS test_positives
    FROM entries
    GROUP BY g, label
),
folds AS (
    SELECT
        *,
        (sum(test_count) OVER others - test_count)::BIGINT AS train_count,
        (sum(test_positives) OVER others - test_positives)::BIGINT AS train_positives
    FROM groups
    WINDOW others AS (PARTITION BY label)
)
SELECT
    g AS held_out,
    label, -- from 0
    train_count,
    train_positives,
    test_count,
    test_positives,
    CASE
        WHEN train_count = 0 THEN 'no other group'
        WHEN train_positives IN (0, train_count) THEN 'one class among the training rows'
        WHEN test_positives IN (0, test_count) THEN 'one class in the held-out group'
    END AS reason
FROM folds;

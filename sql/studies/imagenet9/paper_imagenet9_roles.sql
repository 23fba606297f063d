-- purpose: accuracy of a method's largest score in naming the behaviours of matched cases
-- grain: one row per study, method and statistic
-- paper: section 6.2 (figure 3b); appendix F (magnitude-matched pairs)
-- Intervals resample models. The credit of a case counts as often as its model is drawn; a ranking
-- of two cases counts as often as the product of the draws of both models.
CREATE OR REPLACE VIEW paper_imagenet9_roles AS
WITH methods AS (
    FROM core_unit_methods
    SEMI JOIN (FROM core_analyses WHERE kind = 'matched_pairs' AND is_made) USING (study)
),
-- A method without pairs has one row without models.
pairs AS MATERIALIZED (FROM methods LEFT JOIN core_pair_roles USING (study, method)),
credits AS (
    SELECT {study: study, method: method, statistic: 'role_accuracy'} AS g,
        unnest([left_model_id, right_model_id]) AS cluster,
        -- Models of a pair with a missing score are still drawn.
        unnest(if(credit IS NULL, [0, 0], [left_credit, right_credit])) AS x,
        (credit IS NOT NULL)::INTEGER AS y
    FROM pairs
),
rankings AS (
    SELECT {study: study, method: method, statistic: 'ranking_accuracy'} AS g,
        left_model_id AS cluster_a, right_model_id AS cluster_b,
        coalesce(ranking_wins, 0) AS x, coalesce(ranking_count, 0) AS y
    FROM pairs
),
found AS (
    SELECT g, replicate, value, cluster_count FROM bootstrap_replicates('credits', 500, 91702)
    WHERE statistic = 'ratio'
    UNION ALL
    FROM dyadic_ratio_replicates('rankings', 500, 91702)
),
counts AS (
    SELECT study, method, count(position) AS pair_count,
        coalesce(sum(label_count), 0) AS label_count, count(credit) AS credited_count,
        coalesce(sum(ranking_count), 0) AS ranking_count
    FROM pairs
    GROUP BY study, method
),
replicates AS MATERIALIZED (
    SELECT unnest(g), '' AS part, replicate, value, cluster_count,
        if(g.statistic = 'role_accuracy', credited_count, ranking_count) AS unit_count,
        if(pair_count = 0, 'no matched pair', 'no pair without a missing score') AS undefined
    FROM found
    JOIN counts ON counts.study = g.study AND counts.method = g.method
),
estimates AS (
    SELECT *, 'matched pairs' AS unit FROM comparisons_with_decaf('replicates')
    UNION ALL BY NAME
    SELECT study, 'matched pairs' AS unit, 'all' AS method, unnest(['pairs', 'shown_behaviours']) AS statistic,
        unnest([pair_count, label_count])::DOUBLE AS estimate
    FROM counts
    WHERE method = 'DECAF'
)
SELECT study, method, statistic, estimate, lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM with_published('estimates', 'imagenet9')
ORDER BY study, statistic, method;

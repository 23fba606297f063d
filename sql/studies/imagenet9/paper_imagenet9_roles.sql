-- purpose: how well the largest score of a method names what matched pairs of units show
-- grain: one row per study, method and statistic
-- paper: section 6.2 (figure 3b); appendix F (magnitude-matched pairs)
-- Intervals resample models. The credit of every unit is drawn with its own model; a ranking, which
-- is of both units, as often as the draws of both models multiply to.
CREATE OR REPLACE VIEW paper_imagenet9_roles AS
WITH models AS MATERIALIZED (FROM core_model_pair_roles),
credits AS (
    SELECT {study: study, method: method, statistic: 'role_accuracy'} AS g,
        unnest([left_model_id, right_model_id]) AS cluster,
        unnest([left_credit, right_credit]) AS x, credited_count AS y
    FROM models
),
rankings AS (
    SELECT {study: study, method: method, statistic: 'ranking_accuracy'} AS g,
        left_model_id AS cluster_a, right_model_id AS cluster_b,
        ranking_wins AS x, ranking_count AS y
    FROM models
),
found AS (
    SELECT g, replicate, value, cluster_count FROM bootstrap_replicates('credits', 500, 91702)
    WHERE statistic = 'ratio'
    UNION ALL
    FROM dyadic_ratio_replicates('rankings', 500, 91702)
),
counts AS (
    SELECT study, method, sum(pair_count) AS pair_count, sum(label_count) AS label_count,
        sum(credited_count) AS credited_count, sum(ranking_count) AS ranking_count
    FROM models
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
    published, -- NULL where the paper has none
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM beside_published('estimates', 'imagenet9')
ORDER BY study, statistic, method;

-- purpose: rows that each method sends forward and backward through a model, per image
-- grain: one row per study, method and statistic
-- paper: section 3 (table 1); appendix C.2 (query complexity)
-- published: any data
-- DECAF's forward_per_image is the paper's count for one pair: both branches at every stage of the
-- blend path. planned_per_pair is the number of rows per pair that scored blocks sent through
-- models, on all paths of the study, with shared states once. As in the paper, a method that sends
-- rows backward is internal, and no method is learned.
CREATE OR REPLACE VIEW paper_imagenet9_calls AS
WITH measured AS (
    SELECT study, if(one.kind = 'corruptions', 'corruptions', one.name) AS method,
        sum(item_count) AS images, sum(forward_rows) AS forward_rows,
        sum(backward_rows) AS backward_rows
    FROM core_measurements AS one
    LEFT JOIN stg_costs USING (study, model_id, commit_key)
    GROUP BY ALL
),
scored AS (
    SELECT study, sum(forward_rows) / nullif(sum(cost.pair_count), 0) AS rows_of_pair
    FROM out_block_costs AS cost
    GROUP BY study
),
decaf AS (
    SELECT study, 2 * len(arg_min(t, position)) AS counted, any_value(rows_of_pair) AS rows_of_pair
    FROM core_paths
    SEMI JOIN measured USING (study)
    LEFT JOIN scored USING (study)
    WHERE kind = 'blend'
    GROUP BY study
),
estimates AS (
    SELECT study, method, unnest(['forward_per_image', 'backward_per_image']) AS statistic,
        unnest([forward_rows / nullif(images, 0), backward_rows / nullif(images, 0)]) AS estimate
    FROM measured
    UNION ALL
    SELECT study, 'DECAF', unnest(['forward_per_image', 'planned_per_pair', 'backward_per_image']),
        unnest([counted::DOUBLE, rows_of_pair, 0.0])
    FROM decaf
)
SELECT study, method,
    max(estimate) FILTER (statistic = 'backward_per_image') OVER (PARTITION BY study, method) > 0
        AS internal, -- it needs more than scores; NULL before it is measured
    FALSE AS learned, -- nothing is fitted
    statistic, estimate, -- rows of a model
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL THEN 'nothing has been measured'
        WHEN method = 'occlusion' AND difference = 1 THEN 'the image itself beside its cells'
    END AS reason
FROM with_published('estimates', 'imagenet9')
ORDER BY study, method, statistic;

-- purpose: forward and backward rows that each method takes of a model, by image
-- grain: one row per study, method and statistic
-- inputs: core_measurements, core_paths, core_shards, stg_measurement_costs, stg_costs
-- paper: section 3 (table 1); appendix C.2 (query complexity)
-- DECAF's forward_per_image is the paper's count for one pair: both branches at every stage of the
-- blend path. planned_per_pair is what its scored shards sent through models, by pair: states that
-- pairs, branches and paths share are sent once, and all paths of the study are in it.
CREATE OR REPLACE VIEW paper_imagenet9_calls AS
WITH published (method, statistic, published) AS (
    VALUES ('DECAF', 'forward_per_image', 18), ('DECAF', 'backward_per_image', 0),
        ('input_x_gradient', 'forward_per_image', 1), ('input_x_gradient', 'backward_per_image', 1),
        ('occlusion', 'forward_per_image', 49), ('occlusion', 'backward_per_image', 0),
        ('rise', 'backward_per_image', 0),
        ('smooth_grad', 'forward_per_image', 16), ('smooth_grad', 'backward_per_image', 16),
        ('integrated_gradients', 'forward_per_image', 16), ('rise', 'forward_per_image', 256),
        ('integrated_gradients', 'backward_per_image', 16),
        ('blur_integrated_gradients', 'forward_per_image', 12),
        ('blur_integrated_gradients', 'backward_per_image', 12)
),
measured AS (
    SELECT study, if(kind = 'corruptions', 'corruptions', name) AS method,
        sum(image_count) AS images, sum(forward_rows) AS forward_rows,
        sum(backward_rows) AS backward_rows
    FROM core_measurements
    LEFT JOIN stg_measurement_costs USING (study, model_id, measurement_key)
    GROUP BY ALL
),
scored AS (
    SELECT study, sum(forward_rows) / nullif(sum(cost.pair_count), 0) AS rows_of_pair
    FROM stg_costs AS cost
    SEMI JOIN core_shards USING (study, model_id, shard_key)
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
SELECT study, method, statistic, estimate, -- rows of a model
    NULL::DOUBLE AS lower_90, NULL::DOUBLE AS upper_90,
    NULL::DOUBLE AS lower_95, NULL::DOUBLE AS upper_95,
    published.published::DOUBLE AS published, -- NULL where the paper has none
    estimate - published.published AS difference,
    CASE WHEN estimate IS NULL THEN 'nothing has been measured' END AS reason
FROM estimates
LEFT JOIN published USING (method, statistic)
ORDER BY study, method, statistic;

-- purpose: cost of each attribution method, next to its quality
-- grain: one row per study, protocol, method and statistic
-- paper: section 7, tables 3 and 4; appendix H, table 11
-- Rows of DECAF follow the paper: the image, and the image without each feature, at every stage.
-- scored_per_image counts rows that went through models, with shared states once. Other methods
-- have the rows that went through models; asked_per_image has those without sharing of coalitions.
CREATE OR REPLACE VIEW paper_attribution_compute AS
WITH images AS (
    SELECT study, count(*) / count(DISTINCT image_id) AS pairs_of_image,
        count(*) FILTER (is_leading) / count(DISTINCT image_id) AS features_of_image
    FROM core_attribution_pairs
    GROUP BY study
),
scored AS (
    SELECT study, sum(forward_rows) / nullif(sum(pair_count), 0) * any_value(pairs_of_image)
        AS scored_per_image
    FROM out_costs JOIN images USING (study)
    GROUP BY study
),
commits AS (
    SELECT study, model_id, commit_key, list(DISTINCT name) AS names
    FROM core_measurements
    WHERE kind = 'attributions'
    GROUP BY study, model_id, commit_key
),
spent AS (
    SELECT study, method, sum(forward_rows) / sum(item_count) AS forward_rows,
        sum(backward_rows) / sum(item_count) AS backward_rows,
        sum(naive_rows) / sum(item_count) AS asked_rows, bool_or(len(names) > 1) AS is_shared
    FROM commits JOIN stg_costs USING (study, model_id, commit_key), unnest(names) AS of (method)
    GROUP BY study, method
),
estimates AS (
    SELECT study, protocol, benchmark AS unit, method, is_shared, unnest([
        {statistic: 'spearman', estimate: quality.estimate},
        {statistic: 'rows_per_image', estimate: if(stage_count > 0,
            if(method = 'endpoint_m', 1, stage_count) * (1 + features_of_image), forward_rows)},
        {statistic: 'backward_per_image', estimate: if(stage_count > 0, 0, backward_rows)},
        {statistic: 'scored_per_image',
            estimate: if(stage_count = max(stage_count) OVER (PARTITION BY study, protocol),
                scored_per_image, NULL)},
        {statistic: 'asked_per_image', estimate: if(is_shared, asked_rows, NULL)},
        {statistic: 'ms_per_image', estimate: NULL}, {statistic: 'peak_gib', estimate: NULL}
    ], recursive := true)
    FROM core_attribution_methods
    JOIN core_attribution_studies USING (study) JOIN images USING (study)
    LEFT JOIN scored USING (study) LEFT JOIN spent USING (study, method)
    LEFT JOIN (FROM paper_attribution_metrics WHERE statistic = 'spearman') AS quality
        USING (study, protocol, method)
)
SELECT study, protocol, method, statistic, estimate, -- -1 to 1, rows of a model, ms and GiB
    published, difference, -- NULL if the paper has no value
    CASE WHEN statistic IN ('ms_per_image', 'peak_gib') THEN 'the benchmark of costs measures it'
        WHEN estimate IS NULL AND statistic <> 'scored_per_image' THEN 'not measured'
        WHEN is_shared AND statistic = 'rows_per_image' THEN 'rows that several methods share'
        WHEN statistic = 'asked_per_image' THEN 'of all methods that share rows'
    END AS reason
FROM with_published('estimates', 'attribution')
WHERE coalesce(estimate, published) IS NOT NULL
ORDER BY study, protocol, method, statistic;

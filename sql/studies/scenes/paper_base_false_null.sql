-- purpose: how often a method ranks a null factor of a model above a supported one
-- grain: one row per study of the base suite and method
-- paper: appendix E (matched-magnitude response roles), figure 5b
-- Means over pairs of a supported and a null factor of a model, then over models with such a pair.
-- Abs and Align (E) are those of the first Gaussian path, those of the pixel path, and the minimum
-- and mean over the paths of the family. Intervals resample models within a task and family.
CREATE OR REPLACE VIEW paper_base_false_null AS
WITH units AS MATERIALIZED (FROM scene_classes(0.01, 0.1) WHERE measure = 'alpha'),
scores AS (
    SELECT
        study, model_id, stratum, class,
        unnest([
            {method: 'Endpoint M', score: min(endpoint_magnitude) FILTER (is_primary)},
            {method: 'Abs-CMMR', score: min(abs_response) FILTER (is_primary)},
            {method: 'Align-CMMR', score: min(evidence) FILTER (is_primary)},
            {method: 'Abs-Pixel', score: min(abs_response) FILTER (pixel_share = 1)},
            {method: 'Align-Pixel', score: min(evidence) FILTER (pixel_share = 1)},
            {method: 'Abs-min', score: min(abs_response) FILTER (pixel_share IS NOT NULL)},
            {method: 'Align-min', score: min(evidence) FILTER (pixel_share IS NOT NULL)},
            {method: 'Abs-mean', score: avg(abs_response) FILTER (pixel_share IS NOT NULL)},
            {method: 'Align-mean', score: avg(evidence) FILTER (pixel_share IS NOT NULL)}
        ], recursive := true)
    FROM units
    GROUP BY study, model_id, stratum, factor, class
),
rates AS (
    SELECT study, method, model_id, any_value(null_unit.stratum) AS stratum, count(*) AS pairs,
        avg((null_unit.score > supported.score)::DOUBLE) AS rate
    FROM scores AS supported
    JOIN scores AS null_unit USING (study, model_id, method)
    WHERE supported.class = 'supported' AND null_unit.class = 'null'
    GROUP BY study, method, model_id
),
entries AS MATERIALIZED (
    SELECT {study: study, method: method} AS g, model_id AS cluster, stratum, rate AS x FROM rates
),
counts AS (
    SELECT study, method, count(rate) AS model_count,
        coalesce(sum(pairs) FILTER (rate IS NOT NULL), 0)::BIGINT AS pair_count
    FROM rates GROUP BY study, method
),
estimates AS (
    SELECT unnest(g), * EXCLUDE (g, statistic, reason), 'false_null_rate' AS statistic,
        if(estimate IS NULL, 'the study has no such path', replace(reason, 'cluster', 'model'))
            AS reason
    FROM bootstrap_intervals('entries', 500, 7301)
    WHERE statistic = 'mean'
)
SELECT study, method, model_count, pair_count, statistic,
    estimate, -- share of pairs, mean over models
    lower_90, upper_90, lower_95, upper_95, published, difference, reason
FROM with_published('estimates', 'scenes') JOIN counts USING (study, method)
ORDER BY study, split_part(method, '-', 2), method;

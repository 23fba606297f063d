-- purpose: mean Spearman between the scores of a method and the effects of changing features
-- grain: one row per study, protocol, method and model; model NULL is the mean over models
-- paper: section 7, tables 3 and 4; appendix H, tables 6, 7, 9, 10 and 12
-- Compares images whose class the model predicts and on which all methods are complete; the native
-- protocol uses all images. Models count equally. Intervals draw images, the same for all methods.
CREATE OR REPLACE VIEW paper_attribution_comparison AS
WITH means AS MATERIALIZED (
    SELECT
        {study: study, protocol: protocol, method: method, model_id: model_id} AS g, replicate,
        if(count(value) = count(*), avg(value), NULL) AS value, -- NULL if a model has none
        sum(image_count) AS image_count, count(*) AS model_count
    FROM attribution_replicates(1000, 8218)
    GROUP BY GROUPING SETS (
        (study, protocol, method, model_id, replicate), (study, protocol, method, replicate)
    )
),
remarks AS (
    FROM core_attribution_remarks
    UNION ALL BY NAME
    SELECT DISTINCT study, method, remark FROM core_attribution_remarks -- for the mean over models
),
counts AS (SELECT * EXCLUDE (replicate, value) FROM means WHERE replicate IS NULL),
estimates AS (
    SELECT
        unnest(g), counts.image_count, limits.* EXCLUDE (g), benchmark AS unit,
        coalesce(attribution_architecture(architecture, family), '') AS part,
        'spearman' AS statistic,
        nullif(concat_ws('; ', CASE
            WHEN limits.estimate IS NULL THEN 'every image has a constant row'
            WHEN limits.lower_95 IS NULL THEN 'a single image has no interval'
            WHEN g.model_id IS NULL AND counts.model_count < studies.model_count
                THEN format('{} of {} models have images to compare on', counts.model_count,
                    studies.model_count)
        END, remarks.remark), '') AS reason
    FROM two_level_limits('means') AS limits
    JOIN counts USING (g)
    JOIN core_attribution_studies AS studies
        ON studies.study = g.study AND studies.protocol = g.protocol
    LEFT JOIN stg_models AS model
        ON model.study = g.study AND model.run_id = studies.run_id AND model.model_id = g.model_id
    LEFT JOIN remarks
        ON remarks.study = g.study AND remarks.method = g.method
            AND remarks.model_id IS NOT DISTINCT FROM g.model_id
)
SELECT
    study,
    protocol, -- deletion, held_out or native
    method,
    model_id, -- NULL is the mean over models
    image_count::BIGINT AS image_count, -- if model_id is NULL, of all models together
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value, like the next two
    published_lower_95, published_upper_95,
    difference,
    reason
FROM with_published('estimates', 'attribution')
ORDER BY study, protocol, model_id NULLS FIRST, estimate DESC, method;

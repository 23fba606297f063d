-- purpose: attribution methods that a study compares on features of images
-- grain: one row per study with attribution methods on images with features, and method
-- paper: section 7; appendix H
-- decaf_T is DECAF on an evenly thinned grid of T > 2 stages of the path; endpoint_m is |d|. Other
-- methods have their names in the study.
CREATE OR REPLACE VIEW core_attribution_methods AS
WITH studies AS (
    SELECT study, any_value(path) AS path FROM core_attribution_pairs GROUP BY study
)
SELECT study, 'decaf_' || stage_count AS method, stage_count
FROM studies
JOIN core_paths USING (study, path)
JOIN thinned_grids('core_paths') USING (t)
WHERE stage_count > 2
UNION ALL
SELECT study, 'endpoint_m', 2
FROM studies
WHERE path IS NOT NULL
UNION ALL
SELECT DISTINCT study, name, NULL::BIGINT -- only DECAF has stages
FROM core_measurements
SEMI JOIN studies USING (study)
WHERE kind = 'attributions';

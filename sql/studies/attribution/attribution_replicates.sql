-- purpose: mean rank correlation of every method in every replicate of the paired image bootstrap
-- grain: one row per study, protocol, model, method and replicate; replicate NULL is the sample
-- paper: appendix H (protocol and strict common support)
-- The bootstrap draws the images of the comparison, sorted by id, the same for all methods of a
-- model. As the benchmark's authors do, the native protocol uses all images, and skips images with
-- constant scores or effects instead of counting them as 0.
-- FROM attribution_replicates(1000, 8218)
CREATE OR REPLACE MACRO attribution_replicates(replicates, seed) AS TABLE
WITH entries AS (
    SELECT
        {study: study, protocol: protocol, model_id: model_id, method: method} AS g,
        dataset || chr(0) || model_id AS name,
        image_id AS cluster,
        if(protocol = 'native', rank_correlation, spearman) AS x
    FROM core_attribution_quality
    JOIN core_attribution_studies USING (study, protocol)
    WHERE is_supported OR protocol = 'native'
)
SELECT
    unnest(g),
    replicate, -- from 0
    -- -1 to 1. A single image has no replicates.
    if(replicate IS NULL OR cluster_count > 1, value, NULL) AS value,
    cluster_count AS image_count -- images with a number
FROM named_bootstrap_means('entries', replicates, seed);

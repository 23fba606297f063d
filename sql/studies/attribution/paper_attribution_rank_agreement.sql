-- purpose: mean Spearman between the scores of two methods for the features of an image
-- grain: one row per study, protocol and two methods
-- Means over the images of the comparison, then over models. A method with one score for all
-- features of an image counts as 0.
CREATE OR REPLACE VIEW paper_attribution_rank_agreement AS
WITH scored AS MATERIALIZED (
    SELECT study, protocol, model_id, image_id, method, list(score ORDER BY feature) AS scores
    FROM core_attribution_scores
    JOIN (FROM core_attribution_quality WHERE is_supported)
        USING (study, model_id, image_id, method)
    GROUP BY ALL
),
by_model AS (
    SELECT study, protocol, one.method AS method, other.method AS against,
        avg(coalesce(rank_correlation(one.scores, other.scores), 0)) AS agreement
    FROM scored AS one
    JOIN scored AS other USING (study, protocol, model_id, image_id)
    WHERE one.method < other.method
    GROUP BY study, protocol, model_id, one.method, other.method
)
SELECT
    study,
    protocol,
    method,
    against, -- later by name
    avg(agreement) AS estimate, -- -1 to 1
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM by_model
GROUP BY study, protocol, method, against
ORDER BY study, protocol, method, against;

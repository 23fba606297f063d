-- purpose: agreement of a method's scores with the effects of changing features of an image
-- grain: one row per study, model, protocol, image of two features or more, and complete method
-- paper: section 7; appendix H (protocol and strict common support)
-- A method is complete on an image if all features have a finite score, and a finite effect under
-- every operator of the protocol. Numbers are means over operators. An image is in the comparison
-- (is_supported) if the model predicts its class and all methods are complete.
CREATE OR REPLACE VIEW core_attribution_quality AS
WITH planned AS (
    SELECT
        study, protocol, image_id, count(DISTINCT feature) AS feature_count,
        count(DISTINCT operator) AS operator_count
    FROM core_attribution_pairs
    WHERE protocol IS NOT NULL
    GROUP BY study, protocol, image_id
    HAVING feature_count > 1
),
methods AS (SELECT study, count(*) AS method_count FROM core_attribution_methods GROUP BY study),
-- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
compared AS (
    SELECT
        study, model_id, protocol, operator, image_id, method, count(*) AS entry_count,
        list(score) AS scores, list(effect) AS effects,
        max(score) AS top_score, max(effect) AS top_effect,
        sum(abs(score)) AS score_mass, sum(abs(effect)) AS effect_mass,
        avg((sign(score) = sign(effect))::INTEGER) AS same_signs,
        if(min(score) < top_score AND min(effect) < top_effect, corr(score, effect), 0) AS r
    FROM core_attribution_scores
    JOIN core_attribution_targets USING (study, model_id, image_id, feature)
    WHERE isfinite(score) AND isfinite(effect)
    GROUP BY study, model_id, protocol, operator, image_id, method
),
means AS (
    SELECT
        study, model_id, protocol, image_id, method, feature_count,
        avg(rank_correlation(scores, effects)) AS rank_correlation,
        avg(coalesce(rank_correlation(scores, effects), 0)) AS spearman,
        avg(r) AS pearson,
        avg(same_signs) AS sign_agreement,
        avg(list_sum(list_transform(scores, lambda score, place: abs(
            score / if(score_mass > 0, score_mass, 1)
            - effects[place] / if(effect_mass > 0, effect_mass, 1))))) AS normalized_l1,
        avg(len(list_filter(scores, lambda score, place:
            score = top_score AND effects[place] = top_effect))
            / len(list_filter(scores, lambda score: score = top_score))) AS top1_agreement
    FROM compared JOIN planned USING (study, protocol, image_id)
    WHERE entry_count = feature_count
    GROUP BY study, model_id, protocol, image_id, method, feature_count, operator_count
    HAVING count(*) = operator_count
)
SELECT
    means.*, -- if one side is constant, rank_correlation is NULL and spearman 0
    is_correct IS NOT FALSE AND method_count = count(*) OVER (
        PARTITION BY study, model_id, protocol, image_id) AS is_supported
FROM means JOIN methods USING (study)
JOIN core_predictions USING (study, model_id, image_id);

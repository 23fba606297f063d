-- purpose: behaviours of models on ImageNet-9, computed from predictions
-- grain: one row per study, model and source
-- paper: appendix F
-- y_evidence: the prediction on Mixed-Same is correct, and the random background changes it or
-- lowers the true-class score by change or more. y_contradiction: the prediction on Mixed-Same is
-- correct, and that on Mixed-Next is the class of the background. y_fragility: the pair is
-- inactive, but a corruption of the background changes the prediction, or the true-class score by
-- change or more. It is FALSE for active pairs, and NULL without scored corruptions.
-- FROM behaviours(0.02, 0.2)
CREATE OR REPLACE MACRO behaviours(gate, change) AS TABLE
WITH pairs AS MATERIALIZED (FROM core_pair_predictions),
corrupted AS (
    SELECT
        study,
        model_id,
        image_id,
        bool_or(
            predicted_class <> clean_predicted_class
            OR abs(true_class_score - clean_true_class_score) >= change
        ) AS is_moved
    FROM core_corruptions
    GROUP BY study, model_id, image_id
),
rand AS (
    SELECT
        *,
        plus_score - minus_score AS endpoint_delta,
        abs(endpoint_delta) >= gate AS is_active,
        is_plus_correct
        AND (minus_class <> plus_class OR endpoint_delta >= change) AS y_evidence
    FROM pairs
    WHERE pair_type = 'same_rand'
),
next AS (
    SELECT *, is_plus_correct AND minus_class = (class_id + 1) % class_count AS y_contradiction
    FROM pairs
    WHERE pair_type = 'same_next'
)
SELECT
    rand.study,
    rand.model_id,
    rand.source_id,
    rand.class_id,
    endpoint_delta, -- of the pair with the random background, score units
    is_active, -- at the threshold gate
    y_evidence,
    y_contradiction, -- NULL without a pair with the next class
    CASE WHEN is_active THEN FALSE ELSE corrupted.is_moved END AS y_fragility
FROM rand
LEFT JOIN next USING (study, model_id, source_id)
LEFT JOIN corrupted
    ON corrupted.study = rand.study
    AND corrupted.model_id = rand.model_id
    AND corrupted.image_id = rand.plus_image;

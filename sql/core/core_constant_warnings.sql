-- purpose: warnings about models with nearly equal scores for all clean inputs
-- grain: one row per study and model
-- It compares scores of the first, last and predicted class: if they are constant, and with more
-- than two classes also the predicted class, q is constant.
CREATE OR REPLACE VIEW core_constant_warnings AS
SELECT
    study,
    model_id,
    'constant_score' AS warning,
    NULL::BIGINT AS affected_count,
    'scores of all clean inputs differ by at most a tenth of epsilon. Likely causes: inputs in '
    || 'other units than the model expects, such as by mean or std, or other weights' AS detail
FROM core_score_ranges
JOIN core_current_runs USING (study)
WHERE has_inputs AND (class_count <= 2 OR NOT has_decisions) AND spread <= epsilon / 10;

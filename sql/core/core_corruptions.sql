-- purpose: predictions of the current runs on corrupted backgrounds and on the clean image
-- grain: one row per study, model, factual image and corruption
-- paper: appendix F
-- Only images of inactive pairs are corrupted.
CREATE OR REPLACE VIEW core_corruptions AS
SELECT
    study,
    clean.run_id,
    model_id,
    image_id,
    corruption,
    clean.class_id,
    corrupted.predicted_class,
    clean.predicted_class AS clean_predicted_class,
    -- Lists count from 1. Score units.
    corrupted.class_scores[clean.class_id + 1] AS true_class_score,
    clean.true_class_score AS clean_true_class_score
FROM stg_corruptions AS corrupted
JOIN core_measurements USING (study, model_id, unit_key)
JOIN core_predictions AS clean USING (study, model_id, image_id);

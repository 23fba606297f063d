-- purpose: warnings of models that are right on factual inputs no more often than a guess
-- grain: one row per study and model
CREATE OR REPLACE VIEW core_chance_warnings AS
SELECT study, model_id, 'below_chance' AS warning, NULL::BIGINT AS affected_count,
    format('right on {} of {:,} factual inputs, no more than a guess ({}). Likely '
        || 'causes: class names in another order than the outputs of the model, wrong '
        || 'preprocessing, other weights, or a learned shortcut',
        written_percent(accuracy), image_count, written_percent(chance)) AS detail
FROM core_factual_accuracy WHERE is_at_chance;

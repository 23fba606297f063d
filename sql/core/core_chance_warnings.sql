-- purpose: warnings about models that are no better than a guess on factual inputs
-- grain: one row per study and model
CREATE OR REPLACE VIEW core_chance_warnings AS
SELECT study, model_id, 'below_chance' AS warning, NULL::BIGINT AS affected_count,
    format('right on {} of {:,} factual inputs, no more than a guess ({}). Likely '
        || 'causes: class names in another order than the outputs of the model, wrong '
        || 'preprocessing, other weights, or a learned shortcut',
        format_percent(accuracy), image_count, format_percent(chance)) AS detail
FROM core_factual_accuracy WHERE is_at_chance;

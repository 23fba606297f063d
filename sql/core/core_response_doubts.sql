-- purpose: reasons why limits on responses of a model that hold decide nothing
-- grain: one row per study, model, pair type (NULL: all) and reason
-- A change cannot show how the model uses the changed columns or parts, the model gets inputs on
-- another scale, or its scores may be labels or flat.
CREATE OR REPLACE VIEW core_response_doubts AS
SELECT study, model_id, name AS pair_type, 'model_remark' AS warning, remark AS detail
FROM core_model_remarks
JOIN (FROM core_display_names WHERE kind = 'pair_type') USING (study)
WHERE starts_with(remark, format('pair type ''{}'' changes ', name)) -- tasks/tried_changes.py
UNION ALL
SELECT study, model_id, NULL, 'model_remark', remark
FROM core_model_remarks
WHERE starts_with(remark, 'its outputs look like probabilities') -- network_faults.py
    OR starts_with(remark, 'its ''mean:'' has ')
    OR starts_with(remark, 'its method ''predict'' returns labels') -- of a classifier
UNION ALL
SELECT study, model_id, NULL, warning, detail FROM core_label_warnings
UNION ALL
SELECT study, model_id, NULL, warning, detail FROM core_flat_warnings;

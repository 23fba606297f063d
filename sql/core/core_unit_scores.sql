-- purpose: scores of every method for every label of the units of studies, with the labels
-- grain: one row per study, unit, method and label
-- paper: section 6.1; appendix F; appendix I (fixed semantic readout)
-- A unit is a model, or a model on a source, as unit_kind says. Every study fills its own in
-- sql/studies/<study>/core_<study>_unit_scores.sql.
CREATE OR REPLACE VIEW core_unit_scores AS
SELECT
    study,
    unit_kind,
    model_id,
    family,
    source_id, -- empty where a unit is a model
    method,
    label, -- evidence, contradiction or fragility
    is_shown, -- whether the unit has the label; NULL where it is not known
    score, -- score units, a probability, or the method's own
    abs_response, -- score units
    bin, -- of Abs among the units of the study, from 0; with its edges, in score units
    lower_edge,
    upper_edge,
    is_complete, -- the unit takes part
    reason -- why it takes no part, or why its score is NULL
FROM studies('unit_scores');

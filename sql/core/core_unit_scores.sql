-- purpose: scores of every method for every label of a case, and whether the case has the label
-- grain: one row per study, case, method and label
-- paper: section 6.1; appendix F; appendix I (fixed semantic readout)
-- A case is a model, or a model on a source (unit_kind). Each study package has its rows in
-- sql/studies/<study>/core_<study>_unit_scores.sql.
CREATE OR REPLACE VIEW core_unit_scores AS
SELECT
    study,
    unit_kind,
    model_id,
    family,
    source_id, -- empty if a case is a model
    method,
    label, -- evidence, contradiction or fragility
    is_shown, -- the case has the label; NULL if unknown
    score, -- score units, a probability, or the unit of the method
    abs_response, -- score units
    bin, -- of Abs among the cases of the study, from 0
    lower_edge, -- Abs, score units
    upper_edge,
    is_complete, -- the case takes part
    reason -- why the case is left out, or why its score is NULL
FROM studies('unit_scores');

-- purpose: treatment, responses and behaviours of every classifier of Covertype
-- grain: one row per study and model of core_covertype_models that has been scored
-- paper: section 5; appendix I
-- Means over rows of the table on the study's first context path; behaviours at a change of 0.02.
CREATE OR REPLACE VIEW core_covertype_outcomes AS
WITH responses AS (
    SELECT
        study, model_id,
        -- Rounded so that equal means are ties in ranks.
        round(avg(endpoint_magnitude), 12) AS endpoint_magnitude,
        round(avg(evidence), 12) AS evidence,
        round(avg(contradiction), 12) AS contradiction,
        round(avg(fragility), 12) AS fragility,
        round(avg(abs_response), 12) AS abs_response,
        round(avg(net_response), 12) AS net_response,
        round(avg(opposed_mass), 12) AS opposed_mass
    FROM core_profiles SEMI JOIN core_covertype_models USING (study, model_id, path)
    WHERE repetition = 0
    GROUP BY study, model_id
)
SELECT
    model.study,
    model.model_id,
    model.family,
    model.module, -- direction or fragility
    model.mechanism,
    model.mechanism_label, -- evidence, contradiction or fragility; NULL without one
    model.strength,
    model.seed,
    row_count, -- rows of the table with a trajectory
    endpoint_magnitude, -- score units, like the next columns up to opposed_mass
    evidence,
    contradiction,
    fragility,
    abs_response,
    net_response,
    opposed_mass, -- of active and inactive rows
    sign_flip_rate, -- share of active rows; NULL without any
    active_frac, -- share of rows, like the next four
    preserve_rate,
    collapse_rate,
    invert_rate,
    other_rate,
    alternate_count, -- rows whose own context is the alternate one
    null_count, -- inactive rows among them
    change_rate, -- share of the alternate_count rows whose prediction changes with the factor
    null_change_rate, -- the same of the null_count rows; NULL without any
    null_effect, -- mean |a| over them, score units
    null_reason -- why the last two are NULL
FROM core_covertype_models AS model
JOIN responses USING (study, model_id)
JOIN context_behaviours(0.02) USING (study, model_id);

-- purpose: name the controls of a study in the sentence of a finding
-- grain: scalar macros

-- Words of controls, or of those that respond: 'the control floor (0.150)'; NULL without any.
CREATE OR REPLACE MACRO list_controls(controls, has_to_respond) AS
    nullif(array_to_string(
        [control.words FOR control IN controls IF control.responds OR NOT has_to_respond], ' and '), '');

-- Controls to compare a response with: '; compare the control floor (0.150), also beyond the limit';
-- '' without any.
CREATE OR REPLACE MACRO format_controls(controls, is_beyond) AS
    coalesce('; compare ' || list_controls(controls, false)
        || if(is_beyond, ', also beyond the limit', ''), '');

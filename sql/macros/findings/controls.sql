-- purpose: name the controls of a study in the sentence of a finding
-- grain: scalar macros

-- Words of controls: 'the control floor (0.150)', with 'also beyond the limit' if the response is
-- above a limit that is not NULL; NULL without any control.
CREATE OR REPLACE MACRO list_controls(controls, response_limit) AS
    nullif(array_to_string([
        format('the control {} ({}{})', control.name, format_score(control.response),
            if(control.response > response_limit, ', also beyond the limit', ''))
        FOR control IN controls], ' and '), '');

-- Controls that respond, after a verb: ' except the control floor (0.150)'; '' without any.
CREATE OR REPLACE MACRO except_controls(controls) AS
    coalesce(' except ' || list_controls([control FOR control IN controls IF control.responds], NULL), '');

-- Controls to compare a response with: '; compare the control floor (0.150)'; '' without any.
CREATE OR REPLACE MACRO compare_controls(controls, response_limit) AS
    coalesce('; compare ' || list_controls(controls, response_limit), '');

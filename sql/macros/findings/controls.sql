-- purpose: name the controls and other changes of a study in the sentence of a finding
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

-- Other changes: '; other changes: shape by 0.700 (M 0.200) and 1 more'; three at most, '' without any.
CREATE OR REPLACE MACRO list_changes(changes) AS
    if(len(changes) = 0, '', '; other changes: ' || array_to_string(changes[:3], ', ')
        || if(len(changes) > 3, format(' and {} more', len(changes) - 3), ''));

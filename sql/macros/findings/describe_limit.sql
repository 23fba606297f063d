-- purpose: describe a response with a limit for the sentence of a finding
-- grain: scalar macro

-- A row of out_limits: 'wall colour, which moves the score by 0.166 (95 %: 0.108 to 0.229; at most
-- 0.150)'; without the interval if a limit of it is NULL.
CREATE OR REPLACE MACRO describe_limit(
    name, expect, metric, response, response_limit, lower_limit, upper_limit
) AS
    format('{}, {} by {}', name,
        if(metric = 'abs_response', 'which moves the score', 'whose clean scores differ'),
        format_score(response))
    || format_interval(lower_limit, upper_limit, format('; at {} {}',
        if(expect = 'should_matter', 'least', 'most'), format_limit(response_limit)));

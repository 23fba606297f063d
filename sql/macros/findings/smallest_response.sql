-- purpose: the smallest response that counts, of a score definition: less is called nothing
-- grain: scalar macro

-- 0.01 of a probability, half of the gate of any other score.
CREATE OR REPLACE MACRO smallest_response(score, epsilon) AS
    if(ends_with(score ->> '$.kind', 'probability'), 0.01, epsilon / 2);

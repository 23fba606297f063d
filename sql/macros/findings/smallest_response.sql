-- purpose: smallest response that counts, for a score definition
-- grain: scalar macro

-- 0.01 for a probability, half of epsilon for any other score.
CREATE OR REPLACE MACRO smallest_response(score, epsilon) AS
    if(
        (score ->> '$.kind') IN ('class_probability', 'superclass_probability'), 0.01, epsilon / 2
    );

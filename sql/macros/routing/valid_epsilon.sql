-- purpose: epsilon; an error unless it is a finite number above 0
-- grain: scalar macro
-- paper: section 3
CREATE OR REPLACE MACRO valid_epsilon(epsilon) AS
    CASE
        WHEN isfinite(epsilon::DOUBLE) AND epsilon > 0 THEN epsilon::DOUBLE
        ELSE error('epsilon is ' || coalesce(epsilon::VARCHAR, 'NULL')
            || '; expected a finite number above 0')
    END;

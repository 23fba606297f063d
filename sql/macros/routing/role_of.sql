-- purpose: role with the largest component of a profile
-- grain: scalar macro
-- paper: section 6.2
-- NULL without any response; evidence if it equals contradiction.
CREATE OR REPLACE MACRO role_of(abs_response, is_active, evidence, contradiction) AS
    CASE
        WHEN abs_response = 0 THEN NULL
        WHEN NOT is_active THEN 'fragility'
        WHEN evidence >= contradiction THEN 'evidence'
        ELSE 'contradiction'
    END;

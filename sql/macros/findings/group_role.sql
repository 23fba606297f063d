-- purpose: role of a group of pairs by its mean components
-- grain: scalar macro
-- paper: section 3
-- The largest of E, C and F if it is at least half of Abs; 'mixed' if none is, and 'no response' if
-- Abs is below the smallest response that counts. Of equal components, evidence comes first, then
-- contradiction.
CREATE OR REPLACE MACRO group_role(evidence, contradiction, fragility, smallest) AS
    CASE
        WHEN evidence + contradiction + fragility < smallest THEN 'no response'
        WHEN 2 * greatest(evidence, contradiction, fragility)
            < evidence + contradiction + fragility THEN 'mixed'
        WHEN evidence >= greatest(contradiction, fragility) THEN 'evidence'
        WHEN contradiction >= fragility THEN 'contradiction'
        ELSE 'fragility'
    END;

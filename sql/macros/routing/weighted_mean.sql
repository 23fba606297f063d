-- purpose: mean over rows, weighted by their pairs
-- grain: scalar macro, an aggregate
-- paper: section 3, equation 1
-- Rows whose number is NULL are left out. Where all weights are 1 it is avg(x), bit by bit.
CREATE OR REPLACE MACRO weighted_mean(x, weight) AS
    sum(x * weight) / sum(CASE WHEN x IS NOT NULL THEN weight END);

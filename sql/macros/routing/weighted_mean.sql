-- purpose: mean over rows, with the weights of their pairs
-- grain: scalar macro, an aggregate
-- paper: section 3, equation 1
-- Rows with x NULL are left out. If all weights are 1, the result is avg(x), bit by bit.
CREATE OR REPLACE MACRO weighted_mean(x, weight) AS
    sum(x * weight) / sum(CASE WHEN x IS NOT NULL THEN weight END);

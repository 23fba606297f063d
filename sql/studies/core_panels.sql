-- purpose: panels of figures of the paper, and the pictures of decaf with the same content
-- grain: one row per panel
-- paper: all figures
-- Rows are in sql/studies/<study>/panels.csv.
CREATE OR REPLACE TABLE core_panels AS
SELECT
    study, -- folder of decaf/studies
    figure, -- such as 2a
    shows, -- the paper's words
    picture, -- file of `decaf results`, without its ending; NULL without one
    remark
FROM csv('studies/*/panels.csv');

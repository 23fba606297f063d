-- purpose: panels of the figures of the paper, and the pictures of decaf that show the same
-- grain: one row per panel
-- paper: all figures
-- They are typed in sql/studies/<study>/panels.csv.
CREATE OR REPLACE TABLE core_panels AS
SELECT
    study, -- folder of decaf/studies
    figure, -- such as 2a
    shows, -- the paper's words
    picture, -- file that decaf results writes, without its ending; NULL where none does
    remark
FROM csv('studies/*/panels.csv');

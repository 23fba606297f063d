-- purpose: every number that the paper publishes, beside that of a study of this warehouse
-- grain: one row per value that the paper prints or draws
-- paper: all tables; figures where the text or the authors' results give numbers
-- It asks every table of the paper of every study, which takes minutes; decaf scoreboard takes less.
CREATE OR REPLACE VIEW out_scoreboard AS
WITH numbers AS (FROM core_comparisons)
SELECT
    paper, -- folder of decaf/studies
    place, -- in the paper; several where it prints the value more than once
    unit, -- what the value is of, as the two that follow; NULL where it is not of one
    method,
    part,
    statistic,
    title, -- of the statistic
    published,
    published_lower_95, -- NULL where the paper gives no interval, as the next
    published_upper_95,
    printed, -- NULL where only a figure shows it
    study, -- NULL where none has the number, as all that follow up to the difference
    model_count,
    is_official, -- whether its data are the paper's, as far as counts say
    data, -- why it is said
    estimate,
    lower_95,
    upper_95,
    difference, -- estimate less published
    verdict, -- as verdict_of says
    reason -- why there is no estimate, or what it is of
FROM scoreboard_of('numbers')
ORDER BY paper, position;

-- purpose: number of pairs in the rows of one path
-- grain: scalar macro, an aggregate
-- paper: section 2
-- A path of one repetition has a row for each pair, so rows can be counted. To count names takes as
-- long as the rest of a query of means, and count(DISTINCT) makes DuckDB keep all rows.
CREATE OR REPLACE MACRO pair_count_of(pair_id, repetition_count) AS
    count(*) FILTER (repetition_count = 1) + coalesce(
        list_unique(list(pair_id) FILTER (repetition_count IS DISTINCT FROM 1)), 0
    )::BIGINT;

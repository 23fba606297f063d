-- purpose: the two runs that a comparison names
-- grain: one row per side (a, b)
-- The beginning of a run_id, as decaf plan shows it, names a run. The runs may belong to one study
-- or to two.
-- FROM compared_runs('3f2a', '91bc')
CREATE OR REPLACE MACRO compared_runs(run_a, run_b) AS TABLE
WITH named AS (
    SELECT side, begun, list({study: study, run_id: run_id}) FILTER (study IS NOT NULL) AS found
    FROM (VALUES ('a', run_a::VARCHAR), ('b', run_b::VARCHAR)) AS asked (side, begun)
    LEFT JOIN stg_runs ON starts_with(run_id, begun)
    GROUP BY side, begun
),
chosen AS (
    SELECT
        side,
        CASE
            WHEN len(found) = 1 THEN found[1]
            ELSE error(format('{} runs begin with {}; expected one of those in stg_runs',
                coalesce(len(found), 0), coalesce(begun, 'NULL')))
        END AS run
    FROM named
)
SELECT side, run.study AS study, run.run_id AS run_id FROM chosen;

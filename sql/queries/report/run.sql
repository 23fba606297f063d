-- purpose: the newest run of the study, times in UTC; score is its definition as JSON, and
-- target_name the class whose score is q, if the score has a target and the classes have names
SELECT run.run_id, started_at AT TIME ZONE 'UTC' AS started_at,
       finished_at AT TIME ZONE 'UTC' AS finished_at, is_finished, epsilon, score,
       name AS target_name
FROM out_runs AS run
LEFT JOIN stg_class_names AS class
    ON (class.study, class.run_id) = (run.study, run.run_id)
    AND class_id = TRY((score ->> '$.target')::BIGINT)
WHERE run.study = $study AND is_current

-- purpose: every planned measurement of the current runs has been made
-- grain: one row per measurement that is missing
-- inputs: core_measurements
-- paper: none
SELECT
    'check_measurements_complete' AS check_name,
    study,
    model_id,
    measurement_key AS key,
    'no ' || kind || CASE WHEN name <> '' THEN ' by ' || name ELSE '' END AS found,
    'a receipt of them' AS expected
FROM core_measurements
WHERE NOT is_made;

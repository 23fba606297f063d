-- purpose: every planned baseline of the current runs has been made
-- grain: one row per baseline of a model that is missing
-- inputs: core_baselines
-- paper: none
SELECT DISTINCT
    'check_baselines_complete' AS check_name,
    study,
    model_id,
    method AS key,
    'no scores' AS found,
    'scores, or the reason why there are none' AS expected
FROM core_baselines
WHERE reason = 'not made yet';

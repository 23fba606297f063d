-- purpose: every planned analysis of the current runs has been made
-- grain: one row per analysis that is missing
-- inputs: core_analyses
-- paper: none
SELECT
    'check_analyses_complete' AS check_name,
    study,
    NULL::VARCHAR AS model_id,
    analysis_key AS key,
    'no ' || kind AS found,
    'a receipt of them' AS expected
FROM core_analyses
WHERE NOT is_made;

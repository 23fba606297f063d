-- purpose: response of every pair, score units; the role is none below smallest_response
SELECT study, model_id, pair_type, path, pair_id, repetition,
       if(abs_response < smallest, 'none', role) AS role,
       evidence, contradiction, fragility, abs_response, endpoint_delta, class_id, source_id
FROM core_profiles
JOIN (
    SELECT study, run_id, smallest_response(score, epsilon) AS smallest FROM stg_runs
) USING (study, run_id)

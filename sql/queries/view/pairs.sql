-- purpose: response of every pair, score units
SELECT study, model_id, pair_type, path, pair_id, repetition, role, evidence, contradiction,
       fragility, abs_response, endpoint_delta, class_id, source_id
FROM core_profiles

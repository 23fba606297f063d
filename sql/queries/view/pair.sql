-- purpose: trajectories of one pair in one model, with stored description and pictures
SELECT
    profile.run_id, model_id, pair_id, profile.pair_type, profile.path, repetition,
    profile.endpoint_delta, evidence, contradiction, fragility, profile.abs_response,
    CASE greatest(evidence, contradiction, fragility)
        WHEN evidence THEN 'evidence' WHEN contradiction THEN 'contradiction' ELSE 'fragility'
    END AS component, -- the largest
    greatest(evidence, contradiction, fragility) AS value,
    coalesce(display_name, path) AS path_name, t, q_plus, q_minus,
    stored.words, stored.factual, stored.counterfactual, stored.states, stored.shown_t,
    profile.epsilon, run.score, run.pairs_digest
FROM core_profiles AS profile
JOIN core_trajectories USING (study, model_id, pair_id, path, repetition)
JOIN out_runs AS run ON run.study = profile.study AND run.run_id = profile.run_id
LEFT JOIN stg_shown_pairs AS stored ON stored.study = profile.study
    AND stored.run_id = profile.run_id AND stored.pair_id = profile.pair_id
    AND stored.path = profile.path AND stored.repetition = profile.repetition
LEFT JOIN core_display_names AS names ON names.study = profile.study AND names.kind = 'path'
    AND names.name = profile.path
WHERE profile.study = $study AND model_id = $model_id AND pair_id = $pair_id
ORDER BY names.position, profile.path, repetition

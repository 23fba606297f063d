-- purpose: one trajectory stage by stage, score units
SELECT study, model_id, pair_id, path, repetition, stage, t, q_plus, q_minus, response,
       evidence, contradiction, fragility
FROM core_stages

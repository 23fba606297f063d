-- purpose: main finding of each model; severity 1 is the worst
SELECT study, model_id, severity, sentence, rule, pair_type, path, evidence, contradiction, fragility,
       abs_response, accuracy, decision
FROM out_findings

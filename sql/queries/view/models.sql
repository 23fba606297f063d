-- purpose: what each model goes by; of severity 1 are the worst
SELECT study, model_id, severity, sentence, rule, pair_type, path, evidence, contradiction, fragility,
       abs_response, accuracy, decision
FROM out_findings

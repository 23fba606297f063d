-- purpose: main finding of each model, the worst first
SELECT model_id, rule, decision, pair_type, pair_type_name, path, is_firm, sentence
FROM out_findings
WHERE study = $study

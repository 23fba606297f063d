-- purpose: main finding of each model; severity 1 is the worst
SELECT study, model_id, severity, sentence, rule, pair_type, path,
       endpoint_magnitude, evidence, contradiction, fragility, abs_response, accuracy, decision,
       row_number() OVER (
           PARTITION BY study ORDER BY severity, abs_response DESC NULLS LAST, position
       ) AS place -- the worst first
FROM out_findings

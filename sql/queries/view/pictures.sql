-- purpose: descriptions and pictures of pairs that the current run stores, once for each pair
SELECT pair_id, any_value(words) AS words, any_value(factual) AS factual,
    any_value(counterfactual) AS counterfactual
FROM stg_shown_pairs
SEMI JOIN core_current_runs USING (study, run_id)
WHERE study = $study AND list_contains($pair_ids, pair_id)
GROUP BY pair_id

-- purpose: strongest pair of each entry that fails a gate, if the report shows it
-- Of a component and a pair type that a gate limits, if a gate limits any.
SELECT entry, pair.model_id, pair.pair_id, pair.pair_type, pair.path, component, value
FROM out_verdicts AS gate
JOIN out_entries AS entry USING (study, entry)
JOIN core_shown_pairs AS pair ON pair.study = $study AND pair.model_id = entry.model_id
WHERE study = $study AND gate.verdict = 'fail' AND variant IS NULL AND rank = 1
    AND pair.pair_type = coalesce(gate.pair_type, pair.pair_type)
QUALIFY row_number() OVER (
    PARTITION BY entry ORDER BY component = metric DESC, value DESC, pair_id, pair.path
) = 1
ORDER BY entry

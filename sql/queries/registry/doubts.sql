-- purpose: reasons why a limit on a response that holds decides nothing, by entry and pair type
-- A limit `at_most` from score_range on, the range of all clean scores, decides nothing, nor does
-- one on a probability below changed_share, the share of pairs whose decision changes.
WITH doubts AS (
    SELECT study, model_id, pair_type, detail, NULL AS score_range, NULL AS changed_share
    FROM core_response_doubts
    UNION ALL
    SELECT study, model_id, NULL, detail, NULL, NULL
    FROM (FROM core_constant_warnings UNION ALL FROM core_chance_warnings)
    UNION ALL
    SELECT study, model_id, NULL, NULL, score_range, NULL FROM core_score_ranges
    UNION ALL
    SELECT study, model_id, pair_type, NULL, NULL, changed_count / pair_count
    FROM core_decision_changes
)
SELECT entry, limited_type, min(split_part(detail, '. Likely', 1)), any_value(score_range),
    any_value(changed_share)
FROM core_entries
JOIN doubts USING (study, model_id)
JOIN (SELECT unnest($pair_types::VARCHAR[]) AS limited_type)
    ON limited_type = coalesce(doubts.pair_type, limited_type)
WHERE study = $study AND is_newest
GROUP BY entry, limited_type

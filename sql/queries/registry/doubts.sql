-- purpose: reasons why a limit on a response that holds decides nothing, by entry and pair type
-- The encoder does not know values of a changed column, or the model uses a function of this column,
-- as ArrayModel.remark_changes (decaf/models/array_model.py) remarks; or all clean scores are equal.
-- A limit `at_most` from score_range on, the range of all clean scores, decides nothing, too.
WITH doubts AS (
    SELECT study, model_id, pair_type, remark, NULL AS score_range
    FROM core_model_remarks
    JOIN (SELECT unnest($pair_types::VARCHAR[]) AS pair_type)
        ON starts_with(remark, format('pair type ''{}'' changes ', pair_type))
    UNION ALL
    SELECT study, model_id, unnest($pair_types::VARCHAR[]), detail, NULL
    FROM core_constant_warnings
    UNION ALL
    SELECT study, model_id, unnest($pair_types::VARCHAR[]), NULL, score_range
    FROM core_score_ranges
)
SELECT entry, pair_type, any_value(split_part(remark, '. Likely', 1)), any_value(score_range)
FROM core_entries
JOIN doubts USING (study, model_id)
WHERE study = $study AND is_newest
GROUP BY entry, pair_type

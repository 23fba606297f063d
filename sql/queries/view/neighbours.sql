-- purpose: neighbours of a pair in the order of Abs, within its model, pair type and path
FROM (
    SELECT pair_id, repetition,
        lag({pair_id: pair_id, repetition: repetition}) OVER by_size AS previous,
        lead({pair_id: pair_id, repetition: repetition}) OVER by_size AS next
    FROM core_profiles
    WHERE study = $study AND model_id = $model_id AND pair_type = $pair_type AND path = $path
    WINDOW by_size AS (ORDER BY abs_response DESC, pair_id, repetition)
)
WHERE pair_id = $pair_id AND repetition = $repetition

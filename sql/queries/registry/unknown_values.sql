-- purpose: pair types that change columns with values that the encoder of an entry does not know
-- ArrayModel.remark_changes (decaf/models/array_model.py) makes these remarks.
SELECT entry, pair_type, any_value(split_part(remark, '. Likely', 1))
FROM core_entries
JOIN core_model_remarks USING (study, model_id)
JOIN (SELECT unnest($pair_types::VARCHAR[]) AS pair_type)
    ON starts_with(remark, format('pair type ''{}'' changes ', pair_type))
WHERE study = $study AND is_newest
GROUP BY entry, pair_type

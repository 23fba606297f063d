-- purpose: content that each recorded entry was compared with, where that is another entry
SELECT entry.reaudit_id, entry.entry, compared.weights_sha256, compared.preprocessing_sha256
FROM stg_registry_entries AS entry
JOIN stg_registry_entries AS compared
    ON compared.study = entry.study
    AND compared.reaudit_id = entry.compared_reaudit_id
    AND compared.entry = entry.compared_entry
WHERE entry.study = $study

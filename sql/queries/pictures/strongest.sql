-- purpose: strongest pairs of a study, of which pictures are stored
SELECT DISTINCT pair_id, path, repetition
FROM core_shown_pairs
WHERE study = $study

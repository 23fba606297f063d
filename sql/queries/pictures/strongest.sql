-- purpose: strongest pairs of a study, whose pictures are stored
SELECT DISTINCT pair_id, path, repetition
FROM core_shown_pairs
WHERE study = $study

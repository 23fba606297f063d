-- purpose: strongest pairs of every component, with trajectories, words and pictures
FROM out_shown_pairs
WHERE study = ?
ORDER BY pair_type, model_place, component, rank

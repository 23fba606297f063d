-- purpose: strongest pairs of every component, with trajectories, descriptions and pictures
FROM out_shown_pairs
WHERE study = $study
ORDER BY pair_type, model_place, component, rank

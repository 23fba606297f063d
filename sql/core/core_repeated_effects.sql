-- purpose: paths on which each stage repeats the endpoint difference or shows no difference
-- grain: one row per study, model, pair type and path
-- paper: section 3
-- On such a path, as of a category that flips, E, C and F say no more than M. Equal means within 1e-6
-- score units. A path of two stages has no stage between, and a pair type without an effect repeats
-- nothing: both are false.
CREATE OR REPLACE VIEW core_repeated_effects AS
SELECT
    study, model_id, pair_type, path,
    bool_and(len(list_filter(
        response_of(q_plus, q_minus),
        lambda r: abs(r) > 1e-6 AND abs(r - (q_plus[-1] - q_minus[-1])) > 1e-6
    )) = 0)
        AND min(len(t)) > 2
        AND max(abs(q_plus[-1] - q_minus[-1])) > 1e-6 AS repeats_effect
FROM core_trajectories
GROUP BY study, model_id, pair_type, path;

-- purpose: test whether each stage of a path shows either d or no difference
-- grain: one row per study, model, pair type and path
-- paper: section 3
-- On such a path (a category that flips, for example), E, C and F add nothing to M. Numbers are
-- equal if they differ by at most 1e-6 score units. repeats_effect is false for a path of two
-- stages, and for a pair type without an effect.
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

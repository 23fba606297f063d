-- purpose: role credits and rankings of every method, summed over the matched pairs of two models
-- grain: one row per study, method and models of matched pairs; without a pair one, of no model
-- paper: section 6.2; appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW core_model_pair_roles AS
WITH methods AS (
    FROM core_unit_methods
    SEMI JOIN (FROM core_analyses WHERE kind = 'matched_pairs' AND is_made) USING (study)
)
SELECT
    study,
    method,
    left_model_id, -- NULL where no pair was found
    right_model_id, -- may be the same
    count(position) AS pair_count,
    coalesce(sum(label_count), 0)::BIGINT AS label_count, -- behaviours that the units show
    count(credit) AS credited_count, -- pairs without a missing score, of which the credits are
    coalesce(sum(left_credit) FILTER (credit IS NOT NULL), 0) AS left_credit,
    coalesce(sum(right_credit) FILTER (credit IS NOT NULL), 0) AS right_credit,
    coalesce(sum(ranking_wins), 0) AS ranking_wins,
    -- Pairs and labels that differ, with scores.
    coalesce(sum(ranking_count), 0)::BIGINT AS ranking_count
FROM methods
LEFT JOIN core_pair_roles USING (study, method)
GROUP BY study, method, left_model_id, right_model_id;

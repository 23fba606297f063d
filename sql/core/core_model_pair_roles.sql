-- purpose: role credits and rankings of every method, summed over the matched pairs of two models
-- grain: one row per study, method and models of the left and the right units of matched pairs
-- inputs: core_pair_roles
-- paper: section 6.2; appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW core_model_pair_roles AS
SELECT
    study,
    method,
    left_model_id,
    right_model_id, -- may be the same
    count(*) AS pair_count,
    sum(label_count)::BIGINT AS label_count, -- behaviours that the units show
    count(credit) AS credited_count, -- pairs without a missing score, of which the credits are
    coalesce(sum(left_credit) FILTER (credit IS NOT NULL), 0) AS left_credit,
    coalesce(sum(right_credit) FILTER (credit IS NOT NULL), 0) AS right_credit,
    sum(ranking_wins) AS ranking_wins,
    sum(ranking_count)::BIGINT AS ranking_count -- pairs and labels that differ, with scores
FROM core_pair_roles
GROUP BY study, method, left_model_id, right_model_id;

-- purpose: role credit and ranking of every method on the two cases of every matched pair
-- grain: one row per study, method and matched pair
-- paper: section 6.2; appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW core_pair_roles AS
WITH units AS MATERIALIZED (
    SELECT
        study,
        model_id,
        source_id,
        method,
        list(is_shown::INTEGER ORDER BY label) AS labels,
        list(score ORDER BY label) AS scores
    FROM core_unit_scores
    WHERE is_complete
    GROUP BY study, model_id, source_id, method
),
judged AS (
    SELECT
        pair.*,
        a.method,
        list_sum(a.labels) + list_sum(b.labels) AS label_count,
        role_credit(a.scores, a.labels) AS left_credit,
        role_credit(b.scores, b.labels) AS right_credit,
        label_wins(a.labels, a.scores, b.labels, b.scores) AS wins
    FROM core_matched_pairs AS pair
    JOIN units AS a
        ON a.study = pair.study AND a.model_id = left_model_id AND a.source_id = left_source_id
    JOIN units AS b
        ON b.study = pair.study AND b.model_id = right_model_id AND b.source_id = right_source_id
    WHERE a.method = b.method
)
SELECT
    study,
    method,
    position, -- of the pair
    left_model_id,
    right_model_id,
    label_count::BIGINT AS label_count, -- behaviours that both cases show together
    left_credit, -- share of the largest scores that name a behaviour of the case
    right_credit,
    (left_credit + right_credit) / 2 AS credit, -- NULL if a score is missing
    coalesce(list_sum(wins), 0)::DOUBLE AS ranking_wins, -- a tie counts half
    len(list_filter(wins, lambda win: win IS NOT NULL)) AS ranking_count -- labels of one case
FROM judged;

-- purpose: credit of scores for naming the behaviours of a unit, or for ranking two units
-- grain: scalar macros
-- paper: appendix F (magnitude-matched pairs)
-- labels is a list of 0 or 1, one per behaviour.

-- Share of the largest scores whose label is 1; several scores may be the largest. NULL if a score
-- is NULL or NaN. Both lists have one length.
CREATE OR REPLACE MACRO role_credit(scores, labels) AS
    CASE WHEN len(list_filter(scores, lambda score: score IS NULL OR isnan(score))) = 0 THEN
        list_sum(list_transform(
            scores,
            lambda score, place: CASE
                WHEN score = list_max(scores) THEN labels[place]::DOUBLE ELSE 0
            END
        )) / len(list_filter(scores, lambda score: score = list_max(scores)))
    END;

-- For each label that one of two units has: 1 if that unit scores higher on it, 0 if the other
-- does, 0.5 for a tie. NULL if both or neither have the label, or a score is missing.
CREATE OR REPLACE MACRO label_wins(labels_a, scores_a, labels_b, scores_b) AS
    list_transform(labels_a, lambda label, place: CASE
        WHEN label = labels_b[place] OR isnan(scores_a[place]) OR isnan(scores_b[place]) THEN NULL
        WHEN label = 1 THEN 0.5 + 0.5 * sign(scores_a[place] - scores_b[place])
        ELSE 0.5 - 0.5 * sign(scores_a[place] - scores_b[place])
    END);

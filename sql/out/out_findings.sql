-- purpose: what each model goes by, in one sentence, the worst first
-- grain: one row per study and model
-- The finding of a model is the response (out_responses) of its worst rule, in the order below: on
-- the first path of the study, unless what should not matter moves the score on another one; of
-- equal rules the largest. no_results: nothing of the model is scored.
CREATE OR REPLACE VIEW out_findings AS
WITH rules (severity, rule, begins, ends) AS (
    VALUES
        (1, 'decides_by', 'Decides by ', ', which should not matter: changing it moves'),
        (2, 'leans_on', 'Leans on ', ', which should not matter: changing it moves'),
        (3, 'ignores', 'Ignores ', ', which should matter: changing it moves'),
        (4, 'contradicts', 'Answers against itself where ', ' changes: that moves'),
        (5, 'unstable', 'Is unstable where ', ' changes: that moves'),
        (6, 'reacts_to', 'Reacts to ', ': changing it moves'),
        (7, 'no_response', 'Responds to nothing that was changed: changing ', ' moves')
),
-- Of the plan: a question about one model reads no other.
paths AS (
    SELECT study, count(*) > 1 AS has_paths FROM core_display_names WHERE kind = 'path' GROUP BY study
),
found AS (
    SELECT *,
        list({pair_type: pair_type, words: format('{} by {}', pair_type_name,
            written_score(abs_response, smallest))}) OVER on_path AS on_path
    FROM out_responses JOIN rules USING (rule) JOIN paths USING (study)
    WINDOW on_path AS (
        PARTITION BY study, model_id, path ORDER BY abs_response DESC, pair_type
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
    QUALIFY row_number() OVER (PARTITION BY study, model_id
        ORDER BY least(severity, 3), path_position, severity, abs_response DESC, pair_type) = 1
),
worded AS (
    SELECT *, [other.words FOR other IN on_path IF other.pair_type <> found.pair_type] AS others
    FROM found
)
SELECT
    model.study, model.model_id, model.position,
    coalesce(severity, 8) AS severity, -- 1 is the worst
    coalesce(found.rule, 'no_results') AS rule,
    found.* EXCLUDE (study, model_id, position, rule, severity, begins, ends, path_position,
        has_paths, on_path, others),
    right_on.accuracy, -- on factual inputs; NULL without labels
    right_on.image_count,
    CASE WHEN found.rule IS NULL THEN 'Nothing of it has been scored yet.' ELSE
        begins || pair_type_name || ends || ' the score by ' || written_score(abs_response, smallest)
        || if(has_paths, ' on path ' || path_name, '')
        || coalesce(format(' (95%: {} to {})', written_score(lower_95, smallest),
            written_score(upper_95, smallest)), '')
        || coalesce(', ' || written_shares(evidence_frac, contradiction_frac, fragility_frac), '')
        || if(len(others) = 0, '', '; changing ' || array_to_string(others[:3], ', ')
            || if(len(others) > 3, format(' and {} more', len(others) - 3), ''))
        || coalesce(format('. Right on {:.1f}% of {} factual inputs', 100 * right_on.accuracy,
            right_on.image_count), '') || '.'
    END AS sentence
FROM out_models AS model
LEFT JOIN worded AS found USING (study, model_id)
LEFT JOIN core_factual_accuracy AS right_on USING (study, model_id)
ORDER BY model.study, severity, abs_response DESC, model.position;

-- purpose: warnings about results, except those about the paper's benchmarks
-- grain: one row per study, model, warning and detail
-- paper: appendix B.8 (threshold stability)
-- affected_count precedes detail: '2 trajectories …'; it is NULL if detail has the number.
CREATE OR REPLACE VIEW out_warnings AS
WITH warnings AS (
    SELECT study, model_id, 'quarantined' AS warning, count(*) AS affected_count,
        'trajectories with non-finite scores are withheld from every mean' AS detail
    FROM stg_quarantine SEMI JOIN core_run_units USING (study, model_id, unit_key)
    GROUP BY study, model_id
    UNION ALL
    SELECT study, model_id, 'near_threshold', count(*),
        'trajectories end within 1e-6 of epsilon: their role may change with numerics'
    FROM core_profiles WHERE abs(endpoint_magnitude - epsilon) <= 1e-6 GROUP BY study, model_id
    UNION ALL FROM core_noise_warnings
    UNION ALL FROM core_chance_warnings
    UNION ALL FROM core_response_warnings
    UNION ALL FROM core_unmoved_warnings
    UNION ALL FROM core_constant_warnings
    UNION ALL FROM core_label_warnings
    UNION ALL FROM core_flat_warnings
    UNION ALL
    SELECT study, model_id, 'missing_blocks', count(*),
        'blocks of the plan are not scored or not routed yet: means cover the others'
    FROM core_blocks WHERE NOT (is_scored AND is_routed)
    GROUP BY study, model_id
    UNION ALL
    SELECT study, model_id, 'stopped_early', NULL,
        format('it was scored on {:,} of {:,} sources, {}: means cover these, and out_looks has '
            || 'bounds for all', source_count, planned_source_count,
            if(is_decided, 'since enough was known', 'which left something undecided'))
    FROM out_stops
    UNION ALL
    SELECT study, model_id, 'goal_missed', NULL,
        format('its training ends at a validation accuracy of {}, and was to reach {}',
            training ->> '$.outcome.validation_accuracy', training ->> '$.recipe.gate')
    FROM stg_models SEMI JOIN core_current_runs USING (study, run_id)
    WHERE (training ->> '$.outcome.reached_gate')::BOOLEAN = false
    UNION ALL
    SELECT study, NULL, 'remark', NULL, remark
    FROM stg_run_remarks SEMI JOIN core_current_runs USING (study, run_id)
    UNION ALL
    SELECT study, model_id, 'model_remark', NULL, remark
    FROM core_model_remarks
    UNION ALL
    SELECT study, model_id, 'failed', NULL, 'failed: ' || reason
    FROM core_model_failures
)
FROM warnings ORDER BY study, model_id, warning, detail;

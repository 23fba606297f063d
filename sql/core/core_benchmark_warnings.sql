-- purpose: warnings about the paper's benchmarks: units that are left out, and why
-- grain: one row per study, model and reason
-- paper: appendix F
-- out_warnings omits these, since they read all predictions, which most studies do not need.
CREATE OR REPLACE VIEW core_benchmark_warnings AS
SELECT study, model_id, 'left_out_units' AS warning, left_out_count AS affected_count,
    format('of {} units are left out of the benchmark: {}', unit_count, reason) AS detail
FROM studies('left_out_units');

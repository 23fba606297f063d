-- purpose: placeholder of the scores of baselines: no rows
-- grain: one row per planned model, method and component
-- inputs: none
-- paper: appendix H
CREATE OR REPLACE VIEW core_baselines AS
SELECT
    NULL::VARCHAR AS study, NULL::VARCHAR AS run_id, NULL::VARCHAR AS model_id,
    NULL::VARCHAR AS family, NULL::VARCHAR AS method, NULL::VARCHAR AS component,
    NULL::DOUBLE AS score, NULL::BIGINT AS explained_rows, NULL::VARCHAR AS reason
WHERE false;

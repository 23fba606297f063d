-- purpose: scores of every method for every mechanism of classifiers of Covertype
-- grain: one row per study, model whose treatment names a mechanism, method and label
-- paper: appendix I (fixed semantic readout)
CREATE OR REPLACE VIEW core_covertype_unit_scores AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes)
SELECT * EXCLUDE (endpoint_magnitude)
FROM covertype_units('models');

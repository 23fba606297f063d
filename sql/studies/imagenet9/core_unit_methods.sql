-- purpose: methods that the benchmark of ImageNet-9 compares
-- grain: one row per study that measures behaviours and method
-- paper: section 6.1; appendix F
-- These are the methods of core_unit_scores, also before anything is computed.
CREATE OR REPLACE VIEW core_unit_methods AS
WITH studies AS (SELECT DISTINCT study FROM core_measurements WHERE kind = 'corruptions')
SELECT study, unnest(['DECAF', 'Abs', 'M', 'Net', 'SignFlip']) AS method
FROM studies
UNION ALL
SELECT DISTINCT study, name
FROM core_measurements
SEMI JOIN studies USING (study)
WHERE kind = 'attributions';

-- purpose: profile of every source of ImageNet-9 on the study's first path of kind blend
-- grain: one row per study, model and source with a profile of its same_rand pair
-- paper: section 6.1; appendix F
-- Contradiction is that of the same_next pair; other columns are of the same_rand pair.
CREATE OR REPLACE VIEW core_source_responses AS
WITH blends AS (
    SELECT study, arg_min(path, position) AS path FROM core_paths WHERE kind = 'blend' GROUP BY study
),
profiles AS (
    SELECT * FROM core_profiles SEMI JOIN blends USING (study, path) WHERE repetition = 0
),
next AS (
    SELECT study, model_id, source_id, contradiction FROM profiles WHERE pair_type = 'same_next'
)
SELECT
    study,
    model_id,
    source_id,
    path,
    rand.endpoint_magnitude, -- score units, like the next columns
    rand.evidence,
    next.contradiction, -- NULL without a profile of the same_next pair
    rand.fragility,
    rand.abs_response,
    rand.net_response,
    rand.sign_flip_frac -- share of the stage measure; NULL for inactive pairs
FROM profiles AS rand
LEFT JOIN next USING (study, model_id, source_id)
WHERE rand.pair_type = 'same_rand';

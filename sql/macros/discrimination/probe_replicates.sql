-- purpose: AUROC of probes in replicates that draw whole models, mean over held-out families
-- grain: one row per study, representation, probe, label (or macro) and replicate; NULL: the sample
-- paper: section 6.2 (figure 10); appendix F (cross-architecture comparison)
-- rel names a relation with the columns of core_probe_units. The
-- bootstrap draws the models on which probes are judged, and fits no probe again. All probes of a
-- study share their draws.
CREATE OR REPLACE MACRO probe_replicates(rel, replicates, seed) AS TABLE
WITH entries AS (
    SELECT
        study AS layout,
        {study: study, representation: representation, probe: probe, label: label, family: family}
            AS g,
        model_id AS cluster, is_shown AS label, probability AS score
    FROM query_table(rel)
),
folds AS (
    SELECT unnest(g), replicate, value
    FROM discrimination_replicates('entries', ['auroc'], replicates, seed)
),
labels AS (
    -- AUROC, 0 to 1; NULL where no family of the replicate defines it.
    SELECT study, representation, probe, label, replicate, avg(value) AS value
    FROM folds
    GROUP BY study, representation, probe, label, replicate
)
FROM labels
UNION ALL
SELECT
    study,
    representation,
    probe,
    'macro',
    replicate,
    CASE WHEN count(value) = 3 THEN avg(value) END
FROM labels
GROUP BY study, representation, probe, replicate;

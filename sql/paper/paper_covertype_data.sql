-- purpose: whether a study of Covertype has the data and models of the paper, as far as counts say
-- grain: one row per study whose current run reads Covertype
-- inputs: stg_runs, core_current_runs, core_pairs, stg_models, core_covertype_models
-- paper: section 5; appendix I (setup)
-- It counts rows drawn and audited, and looks how far their positions in the file go: the official
-- table has 581,012 rows. Another table of that size would pass: nobody's digest of it is here.
CREATE OR REPLACE VIEW paper_covertype_data AS
WITH given AS (
    SELECT study, current_run.pairs_digest,
        (run.config ->> '$.data.table.drawn_per_class')::BIGINT AS drawn_per_class
    FROM stg_runs AS run
    JOIN core_current_runs AS current_run USING (study, run_id)
    WHERE run.config ->> '$.data.adapter' = 'covertype'
),
audited AS (
    SELECT study, count(*) AS row_count,
        count(*) FILTER (class_id = 1) AS type_2_count,
        -- Sources of other data are called as they please.
        max(TRY_CAST(regexp_extract(source_id, '\d+') AS BIGINT)) AS highest_row
    FROM core_pairs
    GROUP BY study
),
zoo AS (
    SELECT study,
        count(DISTINCT {family: model.family, of: {m: mechanism, p: strength, s: seed}})
            FILTER ((training ->> '$.recipe.fitted_per_class') IS NULL) AS model_count,
        count(DISTINCT training ->> '$.outcome.training_digest') AS digest_count,
        CASE WHEN digest_count > 1 THEN 'differs between models'
            ELSE min(training ->> '$.outcome.training_digest') END AS training_digest
    FROM core_covertype_models AS model
    JOIN stg_models USING (study, run_id, model_id)
    GROUP BY study
),
judged AS (
    SELECT *, coalesce(model_count, 0) AS models,
        concat_ws(
            '; ',
            CASE WHEN drawn_per_class <> 120000
                THEN format('{:,} rows drawn of each cover type, not 120,000', drawn_per_class) END,
            CASE WHEN row_count <> 48000 THEN format('{:,} rows, not 48,000', row_count) END,
            CASE WHEN type_2_count * 2 <> row_count THEN 'cover types in other shares' END,
            CASE WHEN highest_row >= 581012 THEN 'rows beyond the official table' END,
            CASE WHEN models <> 135
                THEN format('{} treated models fitted on whole training splits, not 135', models)
            END,
            CASE WHEN digest_count > 1
                THEN format('models fitted on {} different training splits', digest_count) END
        ) AS differences
    FROM given JOIN audited USING (study) LEFT JOIN zoo USING (study)
)
SELECT study,
    pairs_digest, -- of the audited inputs
    training_digest, -- of the rows that models were fitted on, without the channels
    drawn_per_class, row_count,
    models AS model_count, -- with treatments that differ, fitted on the whole training split
    differences = '' AS is_official,
    if(is_official, 'counts are those of the official table; contents are not compared',
        differences) AS why
FROM judged
ORDER BY study;

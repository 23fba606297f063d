-- purpose: test whether a study of Covertype has the data and models of the paper, by counts
-- grain: one row per study whose current run reads Covertype
-- paper: section 5; appendix I (setup)
-- It compares counts of drawn and audited rows, and the highest row number. decaf has no digest of
-- the official file, so another table of its size would pass.
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
        -- Sources of other data may have other names.
        max(TRY_CAST(regexp_extract(source_id, '\d+') AS BIGINT)) AS highest_row
    FROM core_pairs GROUP BY study
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
official AS (
    SELECT *, coalesce(model_count, 0) AS models,
        published_value('covertype', 'data', 'drawn_per_class')::BIGINT AS drawn,
        published_value('covertype', 'data', 'rows')::BIGINT AS audited_rows,
        published_value('covertype', 'all', 'models')::BIGINT AS zoo_size
    FROM given JOIN audited USING (study) LEFT JOIN zoo USING (study)
)
SELECT study,
    pairs_digest, -- of the audited inputs
    training_digest, -- of the training rows, without the channels
    drawn_per_class, row_count,
    models AS model_count, -- distinct treatments, fitted on the whole training split
    differences = '' AS is_official,
    if(is_official, 'counts are those of the official table; contents are not compared',
        differences) AS why
FROM (SELECT *, concat_ws('; ',
    if(drawn_per_class <> drawn,
        format('{:,} rows drawn of each cover type, not {:,}', drawn_per_class, drawn), NULL),
    if(row_count <> audited_rows, format('{:,} rows, not {:,}', row_count, audited_rows), NULL),
    if(type_2_count * 2 <> row_count, 'cover types in other shares', NULL),
    if(highest_row >= published_value('covertype', 'data', 'table_rows'),
        'rows beyond the official table', NULL),
    if(models <> zoo_size, format('{} treated models fitted on whole training splits, not {}',
        models, zoo_size), NULL),
    if(digest_count > 1, format('models fitted on {} different training splits', digest_count), NULL)
    ) AS differences FROM official)
ORDER BY study;

-- purpose: test whether a study of attribution methods has the images and models of the paper
-- grain: one row per study that compares attribution methods on images with features
-- paper: section 7; appendix H (protocol and strict common support)
-- It compares only counts and names, not the content of images or the training data of models.
CREATE OR REPLACE VIEW paper_attribution_data AS
WITH counted AS (
    SELECT *,
        published_value('attribution', benchmark, 'images')::BIGINT AS papers_images,
        published_value('attribution', benchmark, 'models')::BIGINT AS papers_models
    FROM core_attribution_studies
    QUALIFY row_number() OVER (PARTITION BY study ORDER BY protocol) = 1
)
SELECT
    study,
    pairs_digest, -- of the audited pairs
    benchmark, -- of the paper, or the adapter
    image_count,
    model_count,
    coalesce(image_count = papers_images AND model_count = papers_models, false) AS is_official,
    CASE
        WHEN papers_images IS NULL THEN format('no counts of {} are known of the paper', benchmark)
        WHEN is_official THEN 'as many images and models as the paper''s; contents are not compared'
        ELSE format('{:,} images and {} models, not {:,} and {}',
            image_count, model_count, papers_images, papers_models)
    END AS why
FROM counted AS counted
JOIN core_current_runs USING (study, run_id)
ORDER BY study;

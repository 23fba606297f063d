-- purpose: predictions of two versions on clean images, in groups to resample
-- grain: one row per entry of rel and measured subject
-- paper: appendix F.2
-- rel is as for drift_pairs. positions are the sources of clean images, and columns has lists of
-- numbers per image. A metric is the ratio of the sums of two columns: ratio names those of the
-- version, ratio_before those of the version before.
CREATE OR REPLACE MACRO drift_image_groups(rel) AS TABLE
WITH images AS (
    SELECT
        {
            study: study, reaudit_id: reaudit_id, entry: entry, against: against,
            pair_type: NULL::VARCHAR, path: NULL::VARCHAR, variant: variant
        } AS g,
        study,
        source_id, is_correct, was_correct
    FROM version_images(rel)
    WHERE reason IS NOT NULL OR was_correct IS NOT NULL
),
gathered AS (
    SELECT
        g,
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        dense_ranks(list(place)) AS positions,
        [list(1::DOUBLE), list(is_correct), list(was_correct)] AS columns
    FROM images
    JOIN core_source_order USING (study, source_id)
    GROUP BY g
)
SELECT
    g,
    list_max(positions) + 1 AS source_count,
    positions,
    columns,
    [{metric: 'accuracy', ratio: [2, 1], ratio_before: [3, 1]}] AS metrics
FROM gathered;

-- purpose: accuracies of the drift, as groups to resample
-- grain: one row per entry of rel and measured subject
-- paper: appendix F.2
-- rel is as for drift_pairs. positions are the sources of clean images, columns lists of their
-- numbers. metrics says of which columns' sums a metric is the ratio: over, under, and of the
-- version before. A mean is a sum by a sum of ones.
CREATE OR REPLACE MACRO drift_image_groups(rel) AS TABLE
WITH images AS (
    SELECT
        {
            study: study, reaudit_id: reaudit_id, entry: entry, against: against,
            pair_type: NULL::VARCHAR, path: NULL::VARCHAR, variant: variant
        } AS g,
        study,
        source_id, is_correct, was_correct
    FROM drift_images(rel)
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

-- purpose: predictions of two versions of an entry on the same clean images, side by side
-- grain: one row per entry of rel and clean image
-- paper: appendix F.2
-- rel is as for drift_pairs. Images without a predicted or a true class are not there.
CREATE OR REPLACE MACRO drift_images(rel) AS TABLE
FROM version_images(rel)
WHERE reason IS NOT NULL OR was_correct IS NOT NULL;

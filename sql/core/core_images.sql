-- purpose: clean inputs of the current runs, with their digests and files
-- grain: one row per study and clean input
-- paper: appendix F.3
CREATE OR REPLACE VIEW core_images AS
SELECT study, run.run_id, image.* EXCLUDE (study, pairs_digest), file.file
FROM stg_images AS image
JOIN core_current_runs AS run USING (study, pairs_digest)
LEFT JOIN stg_image_files AS file USING (study, pairs_digest, image_id);

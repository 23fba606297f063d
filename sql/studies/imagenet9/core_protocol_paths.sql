-- purpose: reveal paths that are the blend and the patch orders of the paper
-- grain: one row per study and path of kind blend or patches
-- paper: section 6.3; appendix F
-- Kind and position in the configuration count, not names: the first blend is the paper's blend,
-- the first patches ranked by energy are its order A, the second its order B. Random patch orders
-- are our control.
CREATE OR REPLACE VIEW core_protocol_paths AS
SELECT
    study,
    path,
    CASE
        WHEN kind = 'blend' THEN 'blend'
        WHEN identity ->> '$.ranking' = 'random' THEN 'random'
        ELSE 'patch'
    END AS protocol,
    row_number() OVER (PARTITION BY study, protocol ORDER BY position) AS place -- from 1
FROM core_paths
WHERE kind IN ('blend', 'patches');

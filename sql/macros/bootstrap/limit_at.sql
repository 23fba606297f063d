-- purpose: percentile limit of sorted replicates
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- share is the share of replicates below the limit: 0.025 for the lower limit at level 0.95. The
-- limit of fewer than two replicates is NULL.
CREATE OR REPLACE MACRO limit_at(replicates, share) AS
    CASE
        WHEN len(replicates) > 1 THEN interpolated_at(replicates, share * (len(replicates) - 1))
    END;

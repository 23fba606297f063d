-- purpose: percentile limit of replicates that are sorted
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- share is the part of the replicates below: 0.025 for the lower limit at level 0.95. NULL for fewer
-- than two replicates.
CREATE OR REPLACE MACRO limit_at(replicates, share) AS
    CASE
        WHEN len(replicates) > 1 THEN interpolated_at(replicates, share * (len(replicates) - 1))
    END;

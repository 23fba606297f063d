-- purpose: metrics of the present versions whose change is a discovery
SELECT entry, against, resolved_at AT TIME ZONE 'UTC' AS resolved_at, version_before, version,
       pair_type, path, variant, metric, value_before, value, change, change_lower, change_upper, p_adjusted
FROM out_drift
WHERE study = $study AND p_adjusted <= 0.05

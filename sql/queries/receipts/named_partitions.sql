-- purpose: partitions of the tables that are called as one of some texts
SELECT partition
FROM (
    SELECT DISTINCT '/study=' || study || '/' AS partition, study AS name FROM receipt_objects
    UNION ALL
    SELECT DISTINCT '/model_id=' || model_id || '/', model_id FROM receipt_objects
)
WHERE list_contains($texts::VARCHAR[], name)

-- purpose: compactions whose commits are all there, unchanged, the one that is preferred first
SELECT compaction.study || '/' || compaction.key
FROM receipt_objects AS compaction
LEFT JOIN named_commits AS named USING (kind, study, key)
LEFT JOIN receipt_objects AS receipt
    ON receipt.kind <> 'compactions'
    AND receipt.study = named.study
    AND receipt.kind || '/' || receipt.key = named.name
    AND receipt.committed_at = named.committed_at
WHERE compaction.kind = 'compactions'
GROUP BY compaction.study, compaction.key, compaction.committed_at, compaction.path
HAVING count(named.name) = count(receipt.key)
ORDER BY count(named.name) DESC, compaction.committed_at::TIMESTAMPTZ DESC, compaction.path

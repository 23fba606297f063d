-- purpose: commits that a withdrawal names although their receipts are still there
SELECT DISTINCT receipt.kind, receipt.study, receipt.key
FROM receipt_objects AS receipt
JOIN named_commits AS named
    ON named.kind = 'withdrawals'
    AND named.study = receipt.study
    AND named.name = receipt.kind || '/' || receipt.key
    AND named.committed_at = receipt.committed_at

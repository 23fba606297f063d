-- purpose: pairs of compactions that fold a commit both
SELECT DISTINCT one.study || '/' || one.key, other.study || '/' || other.key
FROM named_commits AS one
JOIN named_commits AS other USING (kind, study, name)
WHERE kind = 'compactions' AND one.key <> other.key

-- purpose: what is committed, and when
SELECT kind, study, key, model_id, committed_at::TIMESTAMPTZ AS committed_at FROM receipt_objects

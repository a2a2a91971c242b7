-- Without a transaction: triggers may have many rows.
-- Triggers with a time of their own. Their ids begin with that time, so lists by the time of acceptance look for them apart.
create index concurrently if not exists triggers_ahead on triggers (project_id, id) where due_at is not null;

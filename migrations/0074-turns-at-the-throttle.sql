-- Whether a batch that was late, or held by quiet hours, has a turn at the throttle of its own.
alter table trigger_chunks add column turned boolean not null default false;

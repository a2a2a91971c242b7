-- Until when what was sent uses up throttle_per_second. Turns are planned ahead (throttled_until) and may be missed; this decides.
alter table campaigns add column paced_until timestamptz not null default '1970-01-01 00:00:00+00';
-- When quiet hours ended for a batch that has waited for its turn since: its time to live counts from then.
alter table trigger_chunks add column quiet_until timestamptz;

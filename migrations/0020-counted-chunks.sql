-- Devices count as targeted from when they are planned, not from when their turn comes: a throttled trigger tells whom it
-- has still to reach, and one that is canceled or loses a user, whom it did not. False for those planned before this.
alter table trigger_chunks add column counted boolean not null default false;

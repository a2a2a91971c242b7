-- How many days messages of the campaign have waited at most since the time of their trigger, where that is more than a week: its
-- frequency cap looks that far back for triggers.
alter table campaigns add column longest_wait_days int not null default 0;

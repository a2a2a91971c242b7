-- A trigger for a few users is changed when it starts and when it ends, within moments. With half of each page free, the first
-- change leaves the row on its page and touches no index (docs/decisions/0089).
alter table triggers set (fillfactor = 50);

-- The parent of a node, if it is one of several processes that `tidings serve --processes` started: they share their rate
-- limits. Nodes of earlier code leave it null.
alter table nodes add column parent_id text;

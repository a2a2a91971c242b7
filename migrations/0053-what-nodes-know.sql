-- What the code of each node knows, for `tidings upgrade --check`. Nodes of earlier code leave both null.
alter table nodes add column newest_migration int, add column settings text[];

-- Without a transaction: devices may have many rows.
-- The devices of users in the order in which broadcasts read them, with the id: the devices themselves are not read for it.
create index concurrently if not exists devices_in_order on devices (project_id, user_id, id);

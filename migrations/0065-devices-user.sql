-- devices_in_order (0060) serves the same look-ups, with the id.
drop index if exists devices_user;

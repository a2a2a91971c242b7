-- Who made links and triggers. Old nodes leave the new columns empty.

-- The member or the token that made an invitation or a reset link: the link ends when its maker may not make it any more.
-- Null: made before this column; it ends by its time only.
alter table member_links add column made_by uuid;

-- The author of a trigger as audit logs name it: `key …`, `token …`, `member …`. Null: the service itself, or not known.
alter table triggers add column actor text collate "C";

-- A foreign key locks the project's row again for every row that is written. On the tables that are written most, each
-- statement locks it once instead, and erasing a project removes what they hold (docs/decisions/0003).
alter table users drop constraint users_project_id_fkey;

alter table idempotency_keys drop constraint idempotency_keys_project_id_fkey;

alter table messages drop constraint messages_project_id_fkey;

-- Whoever writes messages holds their users, and whoever removes a user locks it and removes its messages first.
alter table messages drop constraint messages_project_id_user_id_fkey;

alter table triggers drop constraint triggers_project_id_fkey;

alter table a2a_tasks drop constraint a2a_tasks_project_id_fkey;

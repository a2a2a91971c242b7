-- When the app first registered a token of the activity: the newest activity of a type is the one that began last. null: an
-- older node stored the row, and registered_at, which moves with each further token, stands for it.
alter table live_activity_tokens add column first_registered_at timestamptz;

-- Evidence of what users chose (docs/guides/privacy.md#consent): the latest yes and the latest no to each topic, and to
-- messages at all, whose topic is empty.
create table consents (
  project_id text collate "C" not null,
  user_id uuid not null,
  topic text collate "C" not null,
  granted boolean not null,
  -- When the person chose, as the caller says, and when that was stored.
  at timestamptz not null,
  recorded_at timestamptz not null,
  -- Where the person chose, and which text the person agreed to. Null: the caller did not say.
  source text,
  wording text,
  -- The kind of caller, and the caller as the audit log names it.
  via text not null,
  actor text not null,
  primary key (project_id, user_id, topic, granted),
  foreign key (project_id, user_id) references users (project_id, id) on delete cascade
);

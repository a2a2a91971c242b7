-- What made the trigger: an occurrence of a schedule, an event or a step of a sequence; null: a call of the API.
alter table triggers add column source jsonb;

-- The step of a sequence that it sends; null: the campaign has no steps.
alter table triggers add column step text collate "C";

-- Not before this; null: it started when it was accepted.
alter table triggers add column due_at timestamptz;

-- When a trigger with a due_at started: its audience, its segment and its life count from then. Null for all others.
alter table triggers add column started_at timestamptz;

-- Only new rows are checked: those before this had fewer states.
alter table triggers drop constraint triggers_state_check;

alter table triggers add constraint triggers_state_check
  check (state in ('scheduled', 'accepted', 'running', 'canceling', 'completed', 'canceled', 'failed')) not valid;

create index triggers_scheduled on triggers (wake_at) where state = 'scheduled';

-- Targets of a trigger may have properties of their own (docs/decisions/0045).
alter table triggers add column target_properties boolean not null default false;

-- For each device of the batch the place of the target that reached it, counted from zero; null: no target of the trigger
-- has properties. The properties stay in the audience of the trigger, so that a batch carries only numbers.
alter table trigger_chunks add column places int[];

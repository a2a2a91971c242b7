-- The replaced secrets that still sign, newest first, sealed as one text: [{"secret", "until"}]; null: none. Older nodes know only
-- previous, so the newest of these is there too.
alter table webhook_secrets add column replaced text;

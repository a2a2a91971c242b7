-- Whether the values of an indexed property are exact: a row stays, without a value, when a user loses the property
-- (docs/decisions/0052). Properties chosen before may have rows of users who lost it while another request changed them.
alter table indexed_properties add column exact boolean not null default false;

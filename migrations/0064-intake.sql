-- Whether the project takes what analytics SDKs send (docs/guides/intake.md). Null: no.
alter table projects add column intake boolean;

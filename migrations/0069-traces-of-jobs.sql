-- The spans that added a job, as traceparents of W3C Trace Context with commas between them: the job continues their trace on
-- whichever node runs it. Null where traces are off.
alter table jobs add column trace text;

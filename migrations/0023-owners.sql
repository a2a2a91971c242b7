-- The process that dispatches a message and follows it to its end; null once it has ended or waits for a retry. No other
-- process takes the message while its owner lives. Null in rows of older versions: their due_at alone decides.
alter table messages add column owner uuid;

-- Since when this node has reached the database without a break, by the database's clock. A node that has just found its
-- way back cannot tell which of the others died and which are still on their way.
alter table nodes add column steady_since timestamptz;

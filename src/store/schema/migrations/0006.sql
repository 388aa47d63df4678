-- Schema version 6: sinks that make something of what they got. `delivery.state` may also be
-- enriched, unverified or kept (the episode is no more, and the sink can't remove it).

-- When the sink was asked to work through it, as long as nobody knows what came of that.
ALTER TABLE delivery ADD COLUMN asked INTEGER;

DROP INDEX delivery_waiting;
CREATE INDEX delivery_waiting ON delivery (sink, state)
    WHERE state NOT IN ('before', 'seen', 'enriched', 'unverified');

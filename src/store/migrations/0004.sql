-- Consent to endpoints: the scope of a consent is 'tracking' or an endpoint, and taking one back is
-- a row too. The last row of a scope counts.
ALTER TABLE consent ADD COLUMN given INTEGER NOT NULL DEFAULT 1;

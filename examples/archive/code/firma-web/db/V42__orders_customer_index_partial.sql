-- Only open orders: the overview of a customer reads nothing else, and the table is not locked while this is built.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_customer_open
    ON orders (customer_id, created_at DESC)
    WHERE closed_at IS NULL;

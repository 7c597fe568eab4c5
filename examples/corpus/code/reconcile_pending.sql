-- reconcile_pending.sql: nightly reconciliation of the Ledger, 02:30 UTC.
-- Owner: Payments Team. Read-only: the posting job acts on the result.
-- Also run by hand after an acquirer timeout, from the Chinese runbook.

-- 1. Charges whose outcome is still unknown on our side, next to what the
--    acquirer's daily file says about the same idempotency key.
SELECT
    p.order_id,
    p.idempotency_key,
    p.amount_minor,
    p.currency,
    p.created_at,
    f.status AS acquirer_status,
    CASE
        WHEN f.status = 'CAPTURED' THEN 'settle'
        WHEN f.status = 'DECLINED' THEN 'void'
        WHEN p.created_at < now() - interval '24 hours' THEN 'void'
        ELSE 'wait'
    END AS proposed_action
FROM ledger_suspense AS p
LEFT JOIN acquirer_file AS f
       ON f.idempotency_key = p.idempotency_key
WHERE p.state = 'PENDING'
ORDER BY p.created_at;

-- 2. Two settled charges on one order. Added in v3.6.0 after INC-2077.
--    Comparing totals is not enough: a double charge balances perfectly.
SELECT
    order_id,
    count(*)          AS charges,
    sum(amount_minor) AS total_minor,
    min(settled_at)   AS first_settled,
    max(settled_at)   AS last_settled
FROM ledger_entries
WHERE kind = 'charge.settled'
  AND reversed_by IS NULL
GROUP BY order_id
HAVING count(*) > 1
ORDER BY last_settled DESC;

-- What was asked for that destroys something, newest first.
SELECT ts, agent, tool, e.domain, e.action, e.target, verdict, id
FROM onlooker.records FINAL ARRAY JOIN effects AS e
WHERE kind = 'action' AND destructive AND e.reversibility = 'irreversible'
ORDER BY ts DESC LIMIT 100;

-- What left the machine, by target.
SELECT e.target AS target, count() AS calls, uniqExact(session) AS sessions
FROM onlooker.records FINAL ARRAY JOIN effects AS e
WHERE kind = 'action' AND e.action = 'send' AND e.domain = 'network'
GROUP BY target ORDER BY calls DESC LIMIT 100;

-- What ran outside its objective or against it.
SELECT objective, verdict, count() AS calls, max(ts) AS latest
FROM onlooker.records FINAL
WHERE kind = 'action' AND verdict IN ('outside_scope', 'contradicts')
GROUP BY objective, verdict ORDER BY calls DESC;

-- What could not be read: calls read in part, bodies unread, exchanges lost. No row here is not a pass of the rest.
SELECT kind, count() AS records
FROM onlooker.records FINAL
WHERE kind IN ('gap', 'unread', 'opaque_flow', 'analysis_failed') OR (kind = 'action' AND NOT complete)
GROUP BY kind ORDER BY records DESC;

-- Which rules matched.
SELECT rule, count() AS matches, uniqExact(session) AS sessions
FROM onlooker.records FINAL ARRAY JOIN rules AS rule
GROUP BY rule ORDER BY matches DESC LIMIT 50;

-- Calls and what was reported of them.
SELECT a.tool, o.outcome, count() AS calls
FROM (SELECT id, tool FROM onlooker.records FINAL WHERE kind = 'action') AS a
LEFT JOIN (SELECT about, outcome FROM onlooker.records FINAL WHERE kind = 'outcome') AS o ON o.about = a.id
GROUP BY a.tool, o.outcome ORDER BY calls DESC;

-- A hole in a log: rows mean that lines are missing here (not loaded, or gone).
SELECT log_id, max(seq) + 1 - uniqExact(seq) AS missing
FROM onlooker.records GROUP BY log_id HAVING missing > 0;

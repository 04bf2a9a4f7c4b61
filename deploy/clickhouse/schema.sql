-- onlooker's records in ClickHouse: the line as it was written (the evidence), and columns read out of it for questions.
-- Load JSONL:  clickhouse-client --query "INSERT INTO onlooker.records (line) FORMAT LineAsString" < audit.jsonl
-- The same record twice (a retry, a second load) is one row: FINAL, or OPTIMIZE, drops the copies by id.
CREATE DATABASE IF NOT EXISTS onlooker;

CREATE TABLE IF NOT EXISTS onlooker.records
(
    line String CODEC(ZSTD(3)),
    id String MATERIALIZED JSONExtractString(line, 'id'),
    kind LowCardinality(String) MATERIALIZED JSONExtractString(line, 'kind'),
    ts DateTime64(3, 'UTC') MATERIALIZED parseDateTime64BestEffort(JSONExtractString(line, 'ts'), 3, 'UTC'),
    log_id LowCardinality(String) MATERIALIZED JSONExtractString(line, 'log_id'),
    seq UInt64 MATERIALIZED JSONExtractUInt(line, 'seq'),
    session String MATERIALIZED JSONExtractString(line, 'session', 'id'),
    turn UInt32 MATERIALIZED JSONExtractUInt(line, 'session', 'turn'),
    agent LowCardinality(String) MATERIALIZED JSONExtractString(line, 'agent', 'id'),
    tool LowCardinality(String) MATERIALIZED JSONExtractString(line, 'call', 'name'),
    surface LowCardinality(String) MATERIALIZED JSONExtractString(line, 'classification', 'surface'),
    reversibility LowCardinality(String) MATERIALIZED JSONExtractString(line, 'classification', 'reversibility'),
    -- true, false, or null: it cannot be known. Null is not false.
    destructive Nullable(Bool) MATERIALIZED JSONExtract(line, 'classification', 'destructive', 'Nullable(Bool)'),
    complete Nullable(Bool) MATERIALIZED JSONExtract(line, 'classification', 'complete', 'Nullable(Bool)'),
    effects Array(Tuple(domain String, action String, target String, reversibility String))
        MATERIALIZED JSONExtract(line, 'classification', 'effects',
            'Array(Tuple(domain String, action String, target String, reversibility String))'),
    objective LowCardinality(String) MATERIALIZED JSONExtractString(line, 'objective', 'id'),
    verdict LowCardinality(String) MATERIALIZED JSONExtractString(line, 'objective', 'verdict'),
    rules Array(String) MATERIALIZED arrayMap(
        f -> JSONExtractString(f, 'rule'),
        arrayFilter(f -> JSONExtractString(f, 'result') = 'match',
            arrayFlatten(arrayMap(p -> JSONExtractArrayRaw(p, 'findings'), JSONExtractArrayRaw(line, 'policy'))))),
    outcome LowCardinality(String) MATERIALIZED JSONExtractString(line, 'outcome'),
    about String MATERIALIZED JSONExtractString(line, 'action')
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (toDate(ts), log_id, seq)
-- How long evidence is kept is a decision of yours; this is the index, the audit log and its checkpoints are the evidence.
TTL toDateTime(ts) + INTERVAL 400 DAY;

"""SQL text, statement by statement: effects by the labelling conventions, opaque only when nothing can be said."""

import pytest

from classifiers.effects import OpaqueReason
from classifiers.sql import classify_sql, looks_like_sql


def lines(action):
    return [str(e) for e in action.effects]


CASES = [
    ("select name from customers", None, ["read database:db:*:*/*/customers read_only"]),
    ("select 1", None, ["read database:db:*:*/* read_only"]),
    ("update a set x = 1 where id = 2", None, ["modify database:db:*:*/*/a many maybe_destructive"]),
    ("update a set x = 1", None, ["modify database:db:*:*/*/a all destructive"]),
    ("delete from a where id = 2", None, ["delete database:db:*:*/*/a many irreversible destructive"]),
    ("delete from a where 1 = 1", None, ["delete database:db:*:*/*/a all irreversible destructive"]),
    ("drop database shop", "postgres", ["delete database:db:postgres:*/shop all irreversible destructive"]),
    ("drop keyspace if exists shop", "generic", ["delete database:db:*:*/shop all irreversible destructive"]),
    ("create keyspace shop with replication = {}", "generic", ["create database:db:*:*/shop reversible"]),
    ("drop table if exists a, b", "postgres", ["delete database:db:postgres:*/*/a irreversible destructive", "delete database:db:postgres:*/*/b irreversible destructive"]),
    ("truncate a", "postgres", ["delete database:db:postgres:*/*/a all irreversible destructive"]),
    ("alter table a drop column x", "postgres", ["modify database:db:postgres:*/*/a destructive"]),
    ("alter table a add column x int", "postgres", ["modify database:db:postgres:*/*/a"]),
    ("insert into shop.a values (1)", "mysql", ["create database:db:mysql:*/shop/a reversible"]),
    ("insert into a values (1) on conflict do nothing", "postgres", ["create database:db:postgres:*/*/a reversible"]),
    ("insert into a values (1) on conflict (id) do update set b = 2", "postgres", ["modify database:db:postgres:*/*/a maybe_destructive"]),
    ("with gone as (delete from a returning *) select * from gone", "postgres", ["delete database:db:postgres:*/*/a all irreversible destructive"]),
    ("explain analyze delete from a", "postgres", ["delete database:db:postgres:*/*/a all irreversible destructive"]),
    ("explain delete from a", "postgres", ["read database:db:postgres:*/*/a read_only"]),
    ("select * into b from a", "tsql", ["create database:db:tsql:*/*/b reversible", "read database:db:tsql:*/*/a read_only"]),
    ("grant all on a to bob", "postgres", ["grant identity:user:bob reversible"]),
    ("create role bob superuser", "postgres", ["create identity:user:bob reversible", "grant identity:user:bob reversible"]),
    ("create role bob nosuperuser", "postgres", ["create identity:user:bob reversible"]),
    ("vacuum into 'copy.db'", "sqlite", ["read database:db:sqlite:*/* read_only", "create filesystem:copy.db reversible path_scope=unknown"]),
    ("attach database '/srv/x.db' as x", "sqlite", ["read filesystem:/srv/x.db read_only path_scope=outside"]),
    ("pragma table_info(a)", "sqlite", ["read database:db:sqlite:*/*/a read_only"]),
    ("pragma writable_schema = 1", "sqlite", ["modify database:db:sqlite:*/*"]),
    ("begin; commit", None, []),
    (".mode csv\n.import --csv in.csv a\nselect 1 from b;", "sqlite", ["read filesystem:in.csv read_only path_scope=unknown", "create database:db:sqlite:*/*/a reversible", "read database:db:sqlite:*/*/b read_only"]),
    (".headers on\n.once out.csv\nselect x.id\n.5 from a; delete from b;\n.tables", "sqlite", ["modify filesystem:out.csv maybe_destructive overwrite path_scope=unknown", "read database:db:sqlite:*/*/a read_only", "delete database:db:sqlite:*/*/b all irreversible destructive", "read database:db:sqlite:*/* read_only"]),
    ("\\d+ a", "postgres", ["read database:db:postgres:*/*/a read_only"]),
    ("\\dt a*", "postgres", ["read database:db:postgres:*/* read_only"]),
    (".backup main b.db", "sqlite", ["read database:db:sqlite:*/* read_only", "modify filesystem:b.db maybe_destructive overwrite path_scope=unknown"]),
    (".restore b.db", "sqlite", ["read filesystem:b.db read_only path_scope=unknown", "modify database:db:sqlite:*/* maybe_destructive"]),
    (".shell rm a.txt", "sqlite", ["execute code", 'delete filesystem:a.txt irreversible destructive path_scope=unknown via=["copy program"]']),
    ("\\copy (select id from a where b = 1) to 'o.csv' csv", "postgres", ["modify filesystem:o.csv maybe_destructive overwrite path_scope=unknown", "read database:db:postgres:*/*/a read_only"]),
    ("\\copy (select id from a join b on a.id = b.id) to stdout", "postgres", ["read database:db:postgres:*/*/a read_only", "read database:db:postgres:*/*/b read_only"]),
    ("select * from a into outfile '/tmp/a.csv'", "mysql", ["create filesystem:/tmp/a.csv reversible path_scope=temp", "read database:db:mysql:*/*/a read_only"]),
    ("load data infile '/tmp/a.csv' into table a", "mysql", ["read filesystem:/tmp/a.csv read_only path_scope=temp", "create database:db:mysql:*/*/a reversible"]),
    ("pragma main.index_list('a')", "sqlite", ["read database:db:sqlite:*/*/a read_only"]),
    ("pragma journal_mode", "sqlite", []),
    ("explain (costs off) update only a set x = 1", "postgres", ["read database:db:postgres:*/*/a read_only"]),
    ("merge into a using b on a.i = b.i when matched and b.x then delete when matched then update set y = b.y when not matched then insert (i) values (b.i)", None, ["modify database:db:*:*/*/a many maybe_destructive", "delete database:db:*:*/*/a many irreversible destructive", "create database:db:*:*/*/a reversible", "read database:db:*:*/*/b read_only"]),
    ("merge into a using b on a.i = b.i when not matched by source then delete", "tsql", ["delete database:db:tsql:*/*/a many irreversible destructive", "read database:db:tsql:*/*/b read_only"]),
    ("merge into a using b on a.i = b.i when not matched then insert (i) values (b.i)", None, ["create database:db:*:*/*/a reversible", "read database:db:*:*/*/b read_only"]),
    ("select x into #few from a;\ndelete from b;\nselect 1", "tsql", ["create database:db:tsql:*/*/#few reversible", "read database:db:tsql:*/*/a read_only", "delete database:db:tsql:*/*/b all irreversible destructive", "read database:db:tsql:*/* read_only"]),
    ("select 1 # one; two\nfrom a", "mysql", ["read database:db:mysql:*/*/a read_only"]),
    ("backup database shop to disk = '/bak/shop.bak'", "tsql", ["read database:db:tsql:*/shop read_only", "modify filesystem:/bak/shop.bak maybe_destructive path_scope=outside"]),
    ("copy into @out/day from a overwrite = true", "snowflake", ["read database:db:snowflake:*/*/a read_only", "modify cloud:@out/day maybe_destructive overwrite"]),
    ("copy into 's3://out/day' from (select x from a) overwrite = true", "snowflake", ["modify cloud:s3://out/day maybe_destructive overwrite", "read database:db:snowflake:*/*/a read_only"]),
    ("copy into @out/day from a", "snowflake", ["read database:db:snowflake:*/*/a read_only", "create cloud:@out/day reversible"]),
    ("copy into a from @in/day", "snowflake", ["read cloud:@in/day read_only", "create database:db:snowflake:*/*/a reversible"]),
    ("alter system set archive_cleanup_command = 'rm -r /srv/wal'", "postgres", ["modify database:db:postgres:*/* maybe_destructive persistence", "execute code condition=deferred", 'delete filesystem:/srv/wal recursive irreversible destructive condition=deferred path_scope=outside via=["copy program"]']),
    ("alter system set restore_command = ''", "postgres", ["modify database:db:postgres:*/* maybe_destructive"]),
    ("insert into function s3('https://b.example/x.csv', 'CSV') select i from a", "clickhouse", ["send cloud:https://b.example/x.csv", "read database:db:clickhouse:*/*/a read_only"]),
    ("insert into function remote('h.example:9000', currentDatabase(), 'a') (i, j) values (1, 2)", "clickhouse", ["send network:h.example:9000"]),
    ("insert into table function file('o.csv', 'CSV') select i from a", "clickhouse", ["modify filesystem:o.csv maybe_destructive path_scope=unknown", "read database:db:clickhouse:*/*/a read_only"]),
    ("select i from postgresql('h.example:5432', 'd', 'a', 'u', 'p')", "clickhouse", ["receive network:h.example:5432 read_only"]),
    ("from 'https://h.example/a.csv'", "duckdb", ["receive network:h.example read_only"]),
    ("select i from 's3://b/a.parquet'", "duckdb", ["read cloud:s3://b/a.parquet read_only"]),
    ("select i from read_parquet(['s3://b/a.parquet', 'c.parquet'])", "duckdb", ["read cloud:s3://b/a.parquet read_only", "read filesystem:c.parquet read_only path_scope=unknown"]),
    ("attach 'https://h.example/a.db' as a", "duckdb", ["receive network:h.example read_only"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "engine", "expected"), CASES, ids=[c[0][:40] for c in CASES])
def test_a_statement_has_the_effects_of_the_conventions(text, engine, expected):
    action = classify_sql(text, engine)
    assert lines(action) == expected
    assert action.complete


def test_a_library_the_server_is_told_to_load_is_code_nobody_has_read():
    action = classify_sql("alter system set shared_preload_libraries = 'quick'", "postgres")
    assert [(e.domain, e.action) for e in action.effects] == [("database", "modify"), ("code", "execute")]
    assert action.effects[1].condition == "deferred"
    assert not action.complete


def test_a_dangerous_function_is_read_inside_any_statement():
    action = classify_sql("select pg_read_file('/etc/passwd'), lo_export(7, '/tmp/x')")
    assert "read filesystem:/etc/passwd read_only path_scope=system" in lines(action)
    assert any(e.target == "/tmp/x" and e.action == "modify" for e in action.effects)


RUN_ON = [
    ("declare @d date = getdate() select x into #few from a where d > @d", ["create #few", "read a"]),
    ("declare @s varchar(9) = 'drop it', @n int = (select max(i) from b) delete from a where i = @n", ["read b", "delete a"]),
    ("set nocount on delete from a delete from b", ["delete a", "delete b"]),
    ("set @n = 4 update a set x = @n where i = 1 drop table b", ["modify a", "delete b"]),
    ("use shop truncate table a", ["delete a"]),
    ("print 'now' drop table a", ["delete a"]),
    ("begin tran delete from a where i = 1 commit", ["delete a"]),
    ("select x from a drop table b", ["read a", "delete b"]),
    ("insert into a values (1) delete from b", ["create a", "delete b"]),
    ("if exists (select 1 from a) delete from a delete from b", ["read a", "delete a", "delete b"]),
    ("create table a (i int references b (i) on delete cascade) insert into a values (1)", ["create a"]),
    ("merge a using b on a.i = b.i when matched then update set x = 1;", ["modify a", "read b"]),
    ("alter table a drop column x", ["modify a"]),
    ("update statistics a", ["modify a"]),
    ("select [delete], \"update\" from a where x = 'drop table b'", ["read a"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), RUN_ON, ids=[c[0][:40] for c in RUN_ON])
def test_statements_of_sql_server_end_where_the_next_one_starts(text, told):
    action = classify_sql(text, "tsql")
    found = [f"{e.action} {(e.target or '').rpartition('/')[2]}" for e in action.effects]
    assert list(dict.fromkeys(found)) == told
    assert action.complete


@pytest.mark.parametrize("text", [".read more.sql", ".load ./ext", ".open other.db", ".archive -x"])
def test_an_order_to_the_sqlite_shell_that_hides_what_follows_is_not_called_complete(text):
    assert not classify_sql(f"{text}\nselect 1", "sqlite").complete


def test_a_point_inside_a_statement_is_no_order_to_the_sqlite_shell():
    assert [e.action.value for e in classify_sql("select a\n.shell from a; delete from b;", "sqlite").effects] == [
        "read",
        "delete",
    ]


def test_a_procedure_nobody_knows_is_not_called_complete():
    action = classify_sql("call settle_accounts(3)", "postgres")
    assert not action.complete
    assert action.destructive is None


def test_text_that_is_no_statement_is_a_parse_error_with_its_span():
    action = classify_sql("select 1; tables of the lord")
    assert [(o.reason, o.span) for o in action.opaque] == [(OpaqueReason.PARSE_ERROR, (10, 28))]


def test_a_broken_statement_still_says_what_its_words_say():
    action = classify_sql("delete from orders where (((", "postgres")
    assert action.destructive is True


def test_each_effect_points_at_its_own_statement():
    text = "select 1;\n drop table a"
    spans = [(e.evidence.start, e.evidence.end) for e in classify_sql(text).effects]
    assert [text[a:b] for a, b in spans] == ["select 1", "drop table a"]


def test_a_semicolon_inside_a_string_or_a_dollar_quote_ends_nothing():
    assert len(classify_sql("insert into a values ('x; drop table b')").effects) == 1
    assert len(classify_sql("select $$ ; drop table b $$", "postgres").effects) == 1


def test_the_host_is_where_the_effect_happens():
    action = classify_sql("drop table a", "postgres", "db.shop.example", "shop")
    assert [e.where for e in action.effects] == ["host:db.shop.example"]
    assert action.effects[0].target == "db:postgres:db.shop.example/shop/a"


def test_rows_of_literals_are_complete_however_many():
    action = classify_sql("insert into a (b, c) values " + ",".join(["(1, 'x')"] * 4000))
    assert action.complete
    assert lines(action) == ["create database:db:*:*/*/a reversible"]


def test_a_statement_over_the_cap_is_opaque_and_its_first_words_still_count():
    action = classify_sql("insert into a values " + ",".join(["(1, now())"] * 4000))
    assert [o.reason for o in action.opaque] == [OpaqueReason.SIZE_CAP]
    assert [e.certainty for e in action.effects] == ["possible"]


@pytest.mark.parametrize(("text", "expected"), [
    ("select * from a", True), ("  -- note\nDROP TABLE a", True), ("with x as (select 1) select * from x", True),
    ("latest weather in Lima", False), ("delete the old emails", False), ("update me on the news", False), ("", False),
])  # fmt: skip
def test_questions_in_plain_words_are_not_sql(text, expected):
    assert looks_like_sql(text) is expected


def test_what_the_parser_recovers_from_with_a_value_for_a_node_is_read_all_the_same():
    action = classify_sql("with a as (delete from\udcff\udcff b returning *) select * from a; copy t from program 'x'")
    assert next((e.domain, e.action) for e in action.effects) == ("database", "delete")


@pytest.mark.parametrize(
    "text",
    [
        "begin execute immediate 'drop table a'; end;",
        "select 1 /*!50000 ; drop table a */",
        "do $$ begin perform 1; if true then drop table a; end if; end $$",
        "if exists (select 1 from b) drop table a",
        "exec sp_executesql N'drop table a'",
        "explain (analyze, buffers) delete from a",
    ],
)
def test_what_a_statement_wraps_is_read(text):
    action = classify_sql(text)
    assert action.complete, action.opaque
    assert [e.target for e in action.effects if e.destructive] == ["db:*:*/*/a"]


@pytest.mark.parametrize("text", ["execute immediate stmt", "exec(@sql)", "do $$ begin execute format('x', y); end $$"])
def test_a_statement_made_when_it_runs_is_not_read(text):
    assert not classify_sql(text).complete


@pytest.mark.parametrize(
    "text", ["/*!50000 " * 2000, "begin " * 600, "explain analyze " * 200 + "select 1", "if " * 900, "copy (" * 400]
)
def test_hostile_nesting_never_raises(text):
    assert classify_sql(text).effects is not None

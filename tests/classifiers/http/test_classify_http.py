"""One request: the domain's effect where the API is well known, else receive or send; metadata hands out secrets."""

import pytest

from classifiers.address import address, host_of
from classifiers.datafile import tables
from classifiers.http import classify_http
from classifiers.http.apis import api_effects
from classifiers.http.places import is_drop

CASES = [
    ("GET", "https://docs.shop.example/a?b=c", "receive network:docs.shop.example"),
    ("HEAD", "http://shop.example:8080/", "receive network:shop.example:8080"),
    ("POST", "https://shop.example/orders", "send network:shop.example"),
    ("DELETE", "https://shop.example/orders/3", "send network:shop.example destructive"),
    ("PUT", "https://shop.example/orders/3", "send network:shop.example maybe_destructive"),
    ("GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/", "read secrets:169.254.169.254 credential_access sensitivity=credential"),
    ("GET", "http://2852039166/latest/meta-data/", "read secrets:169.254.169.254 credential_access sensitivity=credential"),
    ("GET", "http://0xa9.254.0251.254/", "read secrets:169.254.169.254 credential_access sensitivity=credential"),
    ("DELETE", "https://api.github.com/repos/acme/shop", "delete vcs:git:github.com/acme/shop all irreversible destructive"),
    ("POST", "https://api.github.com/repos/acme/shop/issues", "create vcs:git:github.com/acme/shop reversible"),
    ("GET", "https://api.github.com/repos/acme/shop/issues", "receive network:api.github.com read_only"),
    ("POST", "https://slack.com/api/chat.postMessage", "send messaging:slack externally_reversible"),
    ("POST", "https://hooks.slack.com/services/T/B/x", "send messaging:slack externally_reversible"),
    ("DELETE", "https://storage.googleapis.com/storage/v1/b/backups/o/a", "delete cloud:gcp:*:storage:backups/a irreversible destructive"),
    ("GET", "https://compute.googleapis.com/compute/v1/projects/p/zones", "read cloud:gcp:p:compute:* read_only"),
    ("POST", "https://ec2.eu-west-1.amazonaws.com/?Action=TerminateInstances&InstanceId.1=i-1", "delete cloud:aws:*:*:ec2:i-1 destructive"),
    ("DELETE", "https://kubernetes.default.svc/api/v1/namespaces/shop/pods/web", "delete cloud:k8s:*:shop:pod/web destructive"),
    ("GET", "https://kubernetes.default.svc/api/v1/namespaces/shop/secrets/db", "read secrets:k8s:*:shop:secret/db read_only credential_access"),
    ("POST", "https://api.stripe.com/v1/refunds", "create cloud:stripe:refunds irreversible maybe_destructive"),
    ("GET", "file:///etc/hosts", "read filesystem:/etc/hosts path_scope=system"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "url", "expected"), CASES, ids=[c[1][:60] for c in CASES])
def test_a_request_has_the_effect_of_its_method_and_host(method, url, expected):
    assert [str(e) for e in classify_http(method, url).effects] == [expected]


def test_a_body_can_hold_the_operation():
    url = "https://dynamodb.eu-west-1.amazonaws.com/"
    (effect,) = classify_http("POST", url, "Action=DeleteTable&TableName=a").effects
    assert effect.destructive is True


def test_a_host_that_is_not_known_before_it_runs_is_an_unknown_target():
    (effect,) = classify_http("GET", "https://$HOST/a").effects
    assert (effect.target, effect.target_raw) == (None, "https://$HOST/a")


def test_a_method_that_is_a_variable_is_opaque():
    assert not classify_http("$METHOD", "https://shop.example/").complete


@pytest.mark.parametrize(("text", "expected"), [
    ("https://User:pw@Shop.Example:443/a", "shop.example"), ("shop.example/a", "shop.example"), ("localhost:8080", "localhost:8080"),
    ("http://[::1]:9000/", "[::1]:9000"), ("not a host", None), ("https://:99999/", None), ("", None),
])  # fmt: skip
def test_a_host_is_canonical(text, expected):
    assert host_of(text) == expected


def test_a_paste_site_is_a_drop_with_any_prefix():
    assert is_drop("a.b.webhook.site")
    assert not is_drop("shop.example")


@pytest.mark.parametrize(("name", "values"), tables("http/apis"), ids=lambda v: v if isinstance(v, str) else "")
def test_a_table_of_apis_is_readable_and_names_its_source(name, values):
    assert values["source"]
    assert api_effects("GET", address("https://nowhere.example/")) == []


@pytest.mark.parametrize(
    ("query", "destructive"),
    [("query { a }", False), ("mutation { addUser { id } }", None), ("mutation { deleteUser(id: 1) { id } }", True)],
)
def test_a_graphql_request_does_what_its_operation_says(query, destructive):
    (effect,) = classify_http("POST", "https://a.example/graphql", {"query": query}).effects
    assert (effect.action == "receive", effect.destructive) == (destructive is False, destructive)


@pytest.mark.parametrize(
    "host", ["[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "169.254.169.254.nip.io", "a-169-254-169-254.sslip.io"]
)
def test_a_metadata_service_by_another_name_is_still_one(host):
    (effect,) = classify_http("GET", f"http://{host}/latest/meta-data/").effects
    assert effect.domain == "secrets"

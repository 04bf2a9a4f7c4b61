"""The variables of a forward proxy: what was there stays, a program's own servers stay direct."""

from pathlib import Path

from proxy.run import forwarding

CA = Path("/state/ca")


def test_both_spellings_of_each_variable_are_set():
    made = forwarding.variables("127.0.0.1:8792", CA, {})
    assert {made[n] for n in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")} == {"http://127.0.0.1:8792"}
    assert made["NO_PROXY"] == made["no_proxy"] == "localhost,127.0.0.1,::1"
    assert made["SSL_CERT_FILE"] == "/state/ca/bundle.pem"
    assert made["NODE_EXTRA_CA_CERTS"] == "/state/ca/added.pem"


def test_exceptions_that_were_there_are_kept_once():
    made = forwarding.variables("p:1", CA, {"no_proxy": "inside.example, localhost,"})
    assert made["NO_PROXY"] == "inside.example,localhost,127.0.0.1,::1"


def test_the_objective_is_the_user_name():
    assert forwarding.variables("p:1", CA, {}, "review.ab12")["HTTPS_PROXY"] == "http://review.ab12:-@p:1"


def test_without_an_authority_nothing_is_said_about_trust():
    assert "SSL_CERT_FILE" not in forwarding.variables("p:1", CA, {}, trusted=False)

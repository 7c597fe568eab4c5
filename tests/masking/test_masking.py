"""Masking of secrets: only values, nothing ordinary, linear time."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import secret_formats

from weft.masking.mask import find_secrets, mask_secrets

ORDINARY = Path(secret_formats.__file__).with_name("ordinary_lines.txt").read_text("utf-8").splitlines()
MIN_MASKED = 0.995
MAX_ALTERED = 0.01


def masked(sample):
    """Return True if the value of a sample is replaced by a mask, and nothing else changed."""
    found = mask_secrets(sample.line)
    inner = found[len(sample.before) : len(found) - len(sample.after)]
    is_kept = found.startswith(sample.before) and found.endswith(sample.after)
    return is_kept and inner.strip().startswith("[a") and inner.strip().endswith("]") and sample.secret not in found


@pytest.mark.parametrize("count", [100, pytest.param(secret_formats.VALUES, marks=pytest.mark.slow)])
def test_synthetic_secrets_of_all_formats_are_masked(count):
    """At least 60 formats with as many values each; the generator imports nothing of the detector."""
    results = {
        name: [masked(sample) for sample in secret_formats.iter_samples(name, count=count)]
        for name in secret_formats.FORMATS
    }

    assert len(results) >= 60 and all(len(found) == count for found in results.values())
    assert sum(map(sum, results.values())) >= MIN_MASKED * count * len(results)
    assert {name for name, found in results.items() if sum(found) < 0.99 * len(found)} == set()


def test_the_generator_imports_nothing_of_the_detector():
    """Shared patterns would find what they made."""
    source = Path(secret_formats.__file__).read_text("utf-8")

    assert "weft" not in source and "import re" not in source


def test_ordinary_lines_are_not_altered():
    """500 lines of code and prose that look like secrets."""
    altered = [line for line in ORDINARY if mask_secrets(line) != line]

    assert len(ORDINARY) == len(set(ORDINARY)) == 500
    assert len(altered) <= MAX_ALTERED * len(ORDINARY), altered


def test_the_columns_of_a_table_are_masked_row_by_row():
    """Only below a name of a secret, and only while the rows have as many fields."""
    text = "user,password,city\nann,kx9CkzsU5P,Bergen\nbob,tulip42x,Oslo\n\na,b,c\nx,kx9CkzsU5Q,z\n"
    assert mask_secrets(text) == text.replace("kx9CkzsU5P", "[a password]").replace("tulip42x", "[a password]")


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN CERTIFICATE-----\\nMIIBXTCCAQ+gAwIBAgIUcp9CkzsU5Pkv2ZJO8Gp+tJrzuJYwBQYDK2\\n-----END",
        "data = 'kx9CkzsU5Pkv2ZJO8Gp+tJrzuJYwBQYDK2VwMBIx\\nR4nm063hgMVo4BTT5xOs5nHLeLXA6lar7ZJ3Nt0i'",
        "see a key for it [[#11](https://example.com/pull/11780)]",
        "update_password: always",
        "parse-passwd: 1.0.0",
        '"sid": "S-1-5-21-1654078763-769949647-2968445802-513"',
        "nid_key = self._lib.NID_aes_256_cbc",
        '"AWS::IAM::AccessKey": "72c2d9dd90025459"',
        "arn:aws:secretsmanager:us-west-2:123456789012:secret:MySecret-a1b2c3",
        "AKIAIOSFODNN7EXAMPLE and a1b2c3d4-5678-90ab-cdef-EXAMPLE11111",
        "name.py,sha256=sdk-V6GoZ6aMny-D0QNKNf5MWD2OTO3AGbBg6upp4Hc,7834",
        '"CodeSha256": "sU0cJ2/hOZevwV/lTxCuQqK3gDZP3i8gUoqUUVRmY6E="',
        "CLOUD_SECRET=config['secret'],",
        "CLOUD_API_KEY=parser.get('default', 'key'),",
        "if url.password:\n    address = url.replace(1)",
        "LicensePrivateKey ed25519.PrivateKey",
        "password := params.pkcs12Password",
        "sk_X509_pop_free is called",
        "/dev/sda1 66Ojcd-ULtu-1cZa-Tywo-mx0d-RF4O-ysA9jK",
        "key: /tmp/RPM-GPG-KEY-EPEL-7",
        "S3Key: ci/app/gitlab_ci-611-1289.war",
        "user,password,role\n# a comment, and more\nx = kx9CkzsU5Pkv2ZJO, 8Gp, tJrz",
        "| token | lemma |\n| --- | --- |\n| running | run |",
        "origin\tgit@github.com:owner/repository.git (fetch)",
        "docker run -u app -p 8080:80 nginx",
        "credentials = get_credentials('default', 'eu-west')",
        'return "hello".toCharArray();',
        "_key_cert_algorithm=self._key_cert_algorithm,",
        "cache_key=9f86d081884c7d659a2feaa0c55ad015",
        "sort_key: user/created_at2",
        "import x from git@host//path; see a/b@//c",
        "export OPENAI_API_KEY=sk-...",
        "the recovery phrase is a list that you write down and keep for later use with your other things at home",
    ],
)
def test_text_of_public_projects_stays(text):
    """Lines of source code and documentation that earlier rules altered."""
    assert mask_secrets(text) == text


def test_masking_keeps_the_number_of_lines():
    """Citations count lines."""
    for name in secret_formats.FORMATS:
        for sample in secret_formats.iter_samples(name, count=5):
            assert mask_secrets(sample.line).count("\n") == sample.line.count("\n")


def test_masking_twice_changes_nothing():
    """A masked text stays as it is."""
    for name in secret_formats.FORMATS:
        for sample in secret_formats.iter_samples(name, count=5):
            once = mask_secrets(sample.line)
            assert mask_secrets(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see sk-proj-" + "a1B2" * 8 + " here", "see [an API key] here"),
        ("AKIA" + "ABCD1234" * 2, "[an API key]"),
        ("see eyJhbGciOiJI.eyJzdWIiOiIx.abc here", "see [a token] here"),
        ("Bearer abcdefghijklmnop1", "Bearer [a token]"),
        ("PASSWORD=tulip42", "PASSWORD=[a password]"),
        ("PGPASSWORD=tulip psql -h db", "PGPASSWORD=[a password] psql -h db"),
        ("postgres://admin:hunter22@db/app", "postgres://admin:[a password]@db/app"),
        ("postgres://admin:p@ss-w0rd@db/app", "postgres://admin:[a password]@db/app"),
        ("Das Passwort lautet Sommer2024.", "Das Passwort lautet [a password]."),
        ("密码是Sommer2024", "密码是[a password]"),
        ("my PIN is 4821", "my PIN is [a password]"),
        ("card 4111 1111 1111 1111 ok", "card [a card number] ok"),
        ("the new password: hunter2 is old", "the new password: [a password] is old"),
        ('passphrase = "correct horse battery staple"', 'passphrase = "[a password]"'),
        ('"password": "it\\"s9x"', '"password": "[a password]"'),
        ("user=admin&password=hunter2&x=1", "user=admin&password=[a password]&x=1"),
        ("{'password': 'x9!k", "{'password': '[a password]"),
        ("İPASSWORD=tulip42", "İPASSWORD=[a password]"),
        ("first\\nAPI_TOKEN=a1b2c3d4e5f6", "first\\nAPI_TOKEN=[a token]"),
        ("- name: DB_PASSWORD\n  value: x9!kk", "- name: DB_PASSWORD\n  value: [a password]"),
        ('{"name": "DB_PASSWORD", "value": "x9!kk"}', '{"name": "DB_PASSWORD", "value": "[a password]"}'),
        ("['mycli', '--password', 'x9!kk']", "['mycli', '--password', '[a password]']"),
        ("password: |\n  x9!kk\nuser: app", "password: |\n  [a password]\nuser: app"),
        ("the db password is: Walnut91", "the db password is: [a password]"),
        ("https://token-31:a1b2c3d4e5@host/a", "https://token-31:[a password]@host/a"),
        ("password bbbb\\n", "password bbbb\\n"),
        ("recovery phrase: " + "basket velvet " * 6, "recovery phrase: [a password] "),
        ('"access_token": "' + "a1B2" * 400 + '", "x": 1', '"access_token": "[a token]", "x": 1'),
        ("API_TOKEN=" + "a1B2" * 400 + " next", "API_TOKEN=[a token] next"),
    ],
)
def test_only_the_value_is_replaced(text, expected):
    """The text around a secret stays, in a short text and far inside a long one."""
    assert mask_secrets(text) == expected
    filler = "filler words\n" * 400
    assert mask_secrets(filler + text + "\n" + filler) == filler + expected + "\n" + filler


def test_a_private_key_keeps_its_lines():
    """Line numbers of citations depend on it; a key that is cut off is masked to its last line."""
    body = "\n".join("a1B2" * 16 for _ in range(5))
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"

    assert mask_secrets(f"{begin}\n{body}\n{end}\ndone") == f"{begin}\n[a private key]\n\n\n\n\n{end}\ndone"
    assert mask_secrets(f"{begin}\n{body}\nThe end of it.") == f"{begin}\n[a private key]\n\n\n\n\nThe end of it."
    assert (
        mask_secrets(f"A file begins with {begin} and has no more.") == f"A file begins with {begin} and has no more."
    )


def test_spans_are_in_order_and_apart():
    """Several rules may find one secret."""
    text = "OPENAI_API_KEY=sk-" + "a1B2" * 10 + " curl -u a:x9!kk --password tulip42x https://u:hunter22@h"
    spans = find_secrets(text)

    assert len(spans) == 4
    assert all(first.end <= second.start for first, second in pairwise(spans))


HOSTILE = [
    "password=", 'token="', "token='token=\"", "a", "A1", "aB3", "://", "://a:", "://a:b@", "eyJ", "eyJa.", "sk-",
    "-----BEGIN PRIVATE KEY-----", "ghp_a1", "password is ", "key ", "PIN is ", "bearer ", "authorization: ", "41 ",
    '{"password": "', '\\"', "curl -u a:", "mysql -p", "echo a|", "[a key]", "password: \n", "| password |", ":1:a:a:",
    "<password>", ":A", "1//0", "password for a b c ", "token\\", "密码", "密码是a1", "identified by '", "--password ",
    "AAAAbbbb1/", "İ", "machine a login a password ", "name: password\n value: ", '"--password", "', "login('a', 'b",
    "auth=(", "seed phrase: abc abc ", "set password = '", "-----BEGIN CERTIFICATE-----", "aB3" * 12 + "\\n",
    "arn:secret:a1", "convertto-securestring -a ", "requirepass a", "hooks.slack.com/services/", "\\n", "**password** ",
]  # fmt: skip
PROGRAM = """
import json, sys, time
from weft.masking.mask import mask_secrets
for part in json.loads(sys.argv[1]):
    times = []
    for size in (250_000, 1_000_000):
        text = (part * (size // len(part) + 1))[:size]
        start = time.process_time()
        mask_secrets(text)
        times.append(time.process_time() - start)
    print(json.dumps([part, *times]), flush=True)
"""


@pytest.mark.slow
def test_a_hostile_line_of_a_megabyte_takes_linear_time():
    """Four times the text takes about four times as long, not sixteen; in a process that can be killed."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(HOSTILE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1200)
    rows = [json.loads(line) for line in done.stdout.splitlines()]

    assert len(rows) == len(HOSTILE)
    assert [row for row in rows if row[2] > 10 * max(row[1], 0.05)] == []

"""
Synthetic secrets in the formats in which people and programs write them.

Each format is a template with one `@`, and a maker of values. Nothing is imported from the detector: no pattern, no
list of prefixes, no test of randomness. Values come from a seeded generator, so that runs are equal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER, DIGITS, HEX = LOWER.upper(), "0123456789", "0123456789abcdef"
ALNUM = LOWER + UPPER + DIGITS
BASE64, URLSAFE = ALNUM + "+/", ALNUM + "-_"
WORDS = """anchor basket candle desert engine falcon garden hammer island jacket kettle ladder magnet needle orange
    pepper quartz ribbon saddle timber umbrella velvet walnut yellow zebra copper meadow planet silver winter""".split()
VALUES = 300
SEED = 20_260_301

Make = Callable[[random.Random], str]


class Sample(NamedTuple):
    """A line and the secret in it."""

    before: str
    secret: str
    after: str

    @property
    def line(self) -> str:
        """The whole line."""
        return self.before + self.secret + self.after


def chars(alphabet: str, low: int, high: int = 0) -> Make:
    """Return a maker of `low` to `high` random characters."""
    return lambda rng: "".join(rng.choices(alphabet, k=rng.randint(low, high or low)))


def prefixed(prefix: str, alphabet: str, low: int, high: int = 0) -> Make:
    """Return a maker of random characters after a prefix."""
    make = chars(alphabet, low, high)
    return lambda rng: prefix + make(rng)


def joined(*parts: str | Make) -> Make:
    """Return a maker that joins texts and made values."""
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def uuid(rng: random.Random) -> str:
    """Return a UUID of version 4."""
    return "-".join("".join(rng.choices(HEX, k=size)) for size in (8, 4, 4, 4, 12))


def password(rng: random.Random) -> str:
    """Return a password as programs make them or as people choose them."""
    kind = rng.randrange(6)
    if kind == 0:
        return "".join(rng.choices(ALNUM, k=rng.randint(8, 24)))
    if kind == 1:
        return "".join(rng.choices(LOWER + UPPER, k=rng.randint(10, 18)))
    if kind == 2:
        made = "".join(rng.choices(ALNUM, k=rng.randint(4, 8)))
        return made + rng.choice("!@#$%^*-_+=?") + "".join(rng.choices(ALNUM, k=rng.randint(4, 8)))
    if kind == 3:
        return rng.choice(WORDS).title() + str(rng.randint(10, 9999)) + rng.choice(["", "!", "?", "#"])
    if kind == 4:
        return "-".join([*rng.sample(WORDS, 3), str(rng.randint(100, 999))])
    return "".join(rng.choices(URLSAFE, k=22))


def plain_password(rng: random.Random) -> str:
    """Return a password that may stand in a URL without escapes."""
    return "".join(rng.choices(ALNUM, k=rng.randint(8, 20))) + rng.choice(["", "-", "_", "!", "."])


def word_password(rng: random.Random) -> str:
    """Return words without digits."""
    return "".join(rng.sample(WORDS, 2))


def said_password(rng: random.Random) -> str:
    """Return a password that people say to each other: a word and a number."""
    return rng.choice(WORDS).title() + str(rng.randint(10, 9999))


def long_said_password(rng: random.Random) -> str:
    """Return a word and a number of four digits."""
    return rng.choice(WORDS).title() + str(rng.randint(1000, 9999))


def phrase(rng: random.Random) -> str:
    """Return the words of a wallet."""
    return " ".join(rng.choices(WORDS, k=rng.choice((12, 24))))


TOKEN = chars(ALNUM, 20, 44)
JWT = joined("eyJ", chars(URLSAFE, 33), ".eyJ", chars(URLSAFE, 60, 120), ".", chars(URLSAFE, 43))
AWS_SECRET = chars(BASE64, 40)
PEM = joined(*(part for _ in range(5) for part in (chars(BASE64, 64), "\n")), chars(BASE64, 20), "==")
PEM_INLINE = joined(*(part for _ in range(4) for part in (chars(BASE64, 64), "\\n")), chars(BASE64, 20), "==")

SLACK_HOOK = joined("T", chars(UPPER + DIGITS, 10), "/B", chars(UPPER + DIGITS, 10), "/", chars(ALNUM, 24))
SHORT_KEY = joined(chars(BASE64, 43), "=")
AZURE_KEY = joined(chars(BASE64, 86), "==")

GROUPS: dict[str, dict[str, tuple[str, Make]]] = {
    "settings and shells": {
        "env password": ("POSTGRES_PASSWORD=@", password),
        "env password of words": ("MYSQL_ROOT_PASSWORD=@", word_password),
        "env before a command": ("PGPASSWORD=@ psql -h db -U app", password),
        "env secret key": ("SECRET_KEY=@", TOKEN),
        "env API key, hex": ("DD_API_KEY=@", chars(HEX, 32)),
        "env key of a service": ("STRIPE_KEY=@", TOKEN),
        "export": ("export GITHUB_TOKEN=@", TOKEN),
        "export with quotes": ("export DB_PASS='@'", password),
        "env with suffix": ("API_KEY_PROD=@", chars(ALNUM, 32)),
        "PowerShell": ('$env:CLIENT_SECRET = "@"', password),
        "Windows set": ("set ADMIN_PASSWORD=@", password),
        "Dockerfile ENV": ("ENV API_TOKEN=@", TOKEN),
        "Dockerfile ENV with space": ("ENV API_TOKEN @", TOKEN),
        "Compose list": ("      - POSTGRES_PASSWORD=@", password),
        "docker run": ("docker run -e MYSQL_PASSWORD=@ -p 3306:3306 mysql:8", password),
        "properties": ("spring.datasource.password=@", password),
        "ini": ("password = @", password),
        "DSN pairs": ("host=db user=app password=@ dbname=app", password),
        "ODBC": ("Driver=x;Server=db;Uid=app;Pwd=@;Database=app", password),
        "ADO connection": ("Server=db;User Id=app;Password=@;Encrypt=True", password),
        "Azure storage": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@;EndpointSuffix=x", AZURE_KEY),
        "SQL user": ("CREATE USER app WITH PASSWORD '@';", password),
        "SQL identified": ("GRANT ALL ON app.* TO 'app'@'%' IDENTIFIED BY '§';", password),
        ".netrc": ("machine api.example.com login deploy password @", password),
        ".pgpass": ("db.example.com:5432:app:deploy:@", plain_password),
        ".npmrc": ("//registry.example.com/:_authToken=@", uuid),
        "Laravel": ("APP_KEY=@", joined("base64:", chars(BASE64, 43), "=")),
        "Rails": ("RAILS_MASTER_KEY=@", chars(HEX, 32)),
        "Heroku": ("heroku config:set SECRET_KEY_BASE=@ -a app", chars(HEX, 64)),
        "Terraform variable": ('TF_VAR_db_password="@" terraform apply', password),
        "fish": ("set -x GITLAB_TOKEN @", TOKEN),
        "csh": ("setenv AUTH_TOKEN @", TOKEN),
        "setx": ('setx API_KEY "@"', chars(ALNUM, 32)),
        "wpa_supplicant": ('    psk="@"', password),
        "Redis configuration": ("requirepass @", plain_password),
        "Service Bus": ("Endpoint=sb://a.example.net/;SharedAccessKeyName=r;SharedAccessKey=@", SHORT_KEY),
        "JDBC": ("jdbc:postgresql://db/app?user=app&password=@&ssl=true", password),
        "SQL alter": ("ALTER USER app PASSWORD '@';", password),
        "SQL set": ("SET PASSWORD FOR 'app'@'%' = '§';", password),
        "SecureString": ('ConvertTo-SecureString "@" -AsPlainText -Force', password),
        "Ansible": ("ansible_ssh_pass: @", password),
        "log line": ("2026-03-01 INFO login user=app password=@ ok", password),
    },
    "JSON, YAML, TOML, XML": {
        "Kubernetes env": ("  - name: DB_PASSWORD\n    value: @\n", password),
        "Kubernetes env, quoted": ('  - name: API_TOKEN\n    value: "@"\n', TOKEN),
        "JSON name and value": ('{"name": "DB_PASSWORD", "value": "@"}', password),
        "JSON list of arguments": ('["--password", "@"]', password),
        "YAML block": ("password: |\n  @\n", password),
        "YAML folded": ("token: >-\n  @\n", TOKEN),
        "Docker auths": ('"auths": {"registry.example.com": {"auth": "@"}}', joined(chars(ALNUM, 26), "==")),
        "JSON": ('{"user": "app", "password": "@"}', password),
        "JSON, escaped": ('{\\"user\\": \\"app\\", \\"password\\": \\"@\\"}', password),
        "JSON API key, hex": ('  "api_key": "@",', chars(HEX, 32, 40)),
        "JSON camel case": ('{"clientSecret":"@"}', password),
        "JSON access token": ('{"access_token": "@", "expires_in": 3600}', TOKEN),
        "YAML": ("  password: @", password),
        "YAML of words": ("db_password: @", word_password),
        "YAML quoted": ('  apiKey: "@"', chars(HEX, 32)),
        "YAML token": ("token: @", TOKEN),
        "YAML short token": ("token: @", chars(ALNUM, 16)),
        "YAML in base64": ("  password: @", joined(chars(ALNUM, 22), "==")),
        "TOML": ('password = "@"', password),
        "HCL": ('  secret_key = "@"', AWS_SECRET),
        "XML element": ("<password>@</password>", password),
        "XML attribute": ('<add key="ApiKey" value="@" />', TOKEN),
        "XML property": ('<property name="connection.password">@</property>', password),
        "property list": ("<key>API_TOKEN</key><string>@</string>", TOKEN),
    },
    "code": {
        "Python": ('password = "@"', password),
        "Python argument": ("connect(host='db', password='@')", password),
        "Python environ": ('os.environ["API_KEY"] = "@"', TOKEN),
        "Python annotated": ('api_key: str = "@"', TOKEN),
        "JavaScript": ("const apiSecret = '@';", TOKEN),
        "JavaScript object": ("  authToken: `@`,", TOKEN),
        "Ruby": (":password => '@',", password),
        "PHP define": ("define('DB_PASSWORD', '@');", password),
        "Go": ('\tPassword: "@",', password),
        "Java": ('props.setProperty("db.password", "@");', password),
        "C#": ('var token = @"§";', TOKEN),
        "C define": ('#define WIFI_PASSWORD "@"', password),
        "Rust": ('let api_key = String::from("@");', TOKEN),
        "Kotlin": ('val apiKey = "@"', TOKEN),
        "Python login": ('smtp.login("app@example.com", "§")', password),
        "Python auth": ('requests.get(url, auth=("app", "@"))', password),
        "Python list of arguments": ("subprocess.run(['mycli', '--password', '@'])", password),
        "VBA": ('Const PASSWORD As String = "@"', password),
    },
    "flags": {
        "keytool": ("keytool -list -storepass @ -keystore a", plain_password),
        "cqlsh": ("cqlsh -u a -p @ host", plain_password),
        "Helm": ("helm upgrade app . --set auth.password=@ --wait", password),
        "GitHub secret": ("gh secret set DEPLOY_KEY --body @", TOKEN),
        "Java property": ("java -Djavax.net.ssl.keyStorePassword=@ -jar a.jar", password),
        "openssl": ("openssl enc -aes-256-cbc -k @ -in a", plain_password),
        "zip": ("zip -P @ a.zip b", plain_password),
        "flag with space": ("mycli login --password @ --host db", password),
        "flag with equals": ("mycli login --password=@ --host db", password),
        "flag token": ("vault login --token @", TOKEN),
        "flag API key": ("deploy --api-key=@", chars(HEX, 32)),
        "kubectl literal": ("kubectl create secret generic db --from-literal=password=@", password),
        "curl -u": ("curl -u admin:@ https://api.example.com/v1", password),
        "curl --user": ("curl --user 'admin:@' https://api.example.com/v1", password),
        "mysql -p": ("mysql -u root -p@ app", plain_password),
        "sshpass": ("sshpass -p '@' ssh deploy@host", password),
        "redis-cli": ("redis-cli -h cache -a @ ping", plain_password),
        "docker login": ("docker login -u app -p @ registry.example.com", password),
        "pipe to login": ("echo @ | docker login -u app --password-stdin", plain_password),
        "aws configure": ("aws configure set aws_secret_access_key @", AWS_SECRET),
    },
    "headers, URLs, cookies": {
        "Bearer": ('curl -H "Authorization: Bearer @" https://api.example.com', TOKEN),
        "Basic": ("Authorization: Basic @", joined(chars(ALNUM, 22), "==")),
        "header token": ("Authorization: token @", chars(HEX, 40)),
        "X-Api-Key": ("X-Api-Key: @", chars(ALNUM, 32)),
        "cookie": ("Cookie: theme=dark; sessionid=@; lang=en", chars(LOWER + DIGITS, 32)),
        "URL postgres": ("DATABASE_URL=postgresql://app:@@db:5432/app", plain_password),
        "URL amqp": ("amqp://guest:@@mq.example.com/vhost", plain_password),
        "URL https": ("git clone https://deploy:@@git.example.com/app.git", chars(ALNUM, 20, 40)),
        "URL redis without user": ("redis://:@@cache:6379/0", plain_password),
        "query parameter": ("GET /v1/items?api_key=@&page=2", chars(HEX, 32)),
        "query signature": ("https://files.example.com/a.pdf?expires=1&sig=@", chars(URLSAFE, 43)),
        "session cookie": ("Cookie: PHPSESSID=@", chars(LOWER + DIGITS, 26)),
        "Vault header": ('curl -H "X-Vault-Token: @" http://vault:8200', prefixed("hvs.", ALNUM, 24)),
        "GitLab header": ('curl --header "PRIVATE-TOKEN: @" https://git.example.com', TOKEN),
        "Azure SAS": ("https://a.example.net/c?sv=2020&sr=c&sig=@", joined(chars(ALNUM, 43), "%3D")),
        "URL, hex user": ("https://@@tracker.example.com/123", chars(HEX, 32)),
        "otpauth": ("otpauth://totp/app?secret=@&issuer=app", chars(UPPER + "234567", 32)),
    },
    "formats of issuers": {
        "Anthropic": ("use @ please", joined(prefixed("sk-ant-api03-", URLSAFE, 93), "AA")),
        "OpenAI": ("key @", prefixed("sk-", ALNUM, 48)),
        "OpenAI project": ("my key is @", prefixed("sk-proj-", URLSAFE, 100, 156)),
        "OpenRouter": ("@", prefixed("sk-or-v1-", HEX, 64)),
        "Hugging Face": ("login with @", prefixed("hf_", ALNUM, 34)),
        "Groq": ("@", prefixed("gsk_", ALNUM, 52)),
        "GitHub": ("remote uses @", prefixed("ghp_", ALNUM, 36)),
        "GitHub fine-grained": ("@", joined("github_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59))),
        "GitLab": ("@", prefixed("glpat-", URLSAFE, 20)),
        "npm": ("npm token @", prefixed("npm_", ALNUM, 36)),
        "PyPI": ("@", prefixed("pypi-AgEIcHlwaS5vcmc", URLSAFE, 120)),
        "AWS key id": ("aws_access_key_id = @", prefixed("AKIA", UPPER + "234567", 16)),
        "AWS secret key, named": ("aws_secret_access_key = @", AWS_SECRET),
        "AWS secret key, alone": ("and then @ in the console", AWS_SECRET),
        "Google API key": ("@", prefixed("AIza", URLSAFE, 35)),
        "Google OAuth secret": ("@", prefixed("GOCSPX-", URLSAFE, 28)),
        "DigitalOcean": ("doctl auth init -t @", prefixed("dop_v1_", HEX, 64)),
        "Stripe": ("@", prefixed("sk_live_", ALNUM, 24, 99)),
        "Stripe webhook": ("@", prefixed("whsec_", ALNUM, 32)),
        "Slack bot": ("@", joined("xoxb-", chars(DIGITS, 12), "-", chars(DIGITS, 12), "-", chars(ALNUM, 24))),
        "Slack webhook": ("https://hooks.slack.com/services/@", SLACK_HOOK),
        "SendGrid": ("@", joined("SG.", chars(URLSAFE, 22), ".", chars(URLSAFE, 43))),
        "Twilio": ("TWILIO @", prefixed("SK", HEX, 32)),
        "Telegram": ("bot @", joined(chars(DIGITS, 10), ":A", chars(URLSAFE, 34))),
        "Databricks": ("@", prefixed("dapi", HEX, 32)),
        "Shopify": ("@", prefixed("shpat_", HEX, 32)),
        "Vault": ("@", prefixed("hvs.", URLSAFE, 95)),
        "Supabase": ("@", prefixed("sbp_", HEX, 40)),
        "Linear": ("@", prefixed("lin_api_", ALNUM, 40)),
        "JWT": ("session @ expired", JWT),
        "PEM": ("-----BEGIN RSA PRIVATE KEY-----\n@\n-----END RSA PRIVATE KEY-----\ndone", PEM),
        "PEM on one line": ('"key": "-----BEGIN PRIVATE KEY-----\\n@\\n-----END PRIVATE KEY-----\\n"', PEM_INLINE),
    },
    "written after the detector": {
        "Oracle": ("jdbc:oracle:thin:app/§@//db.example.com:1521/orcl", plain_password),
        "sqlplus": ("sqlplus app/§@//db.example.com:1521/orcl", plain_password),
        "ClickHouse": ("http://db:8123/?user=app&password=@&database=x", plain_password),
        "Application Insights": ("InstrumentationKey=@;IngestionEndpoint=https://a.in.example.com/", uuid),
        "Erlang cookie": ("RABBITMQ_ERLANG_COOKIE=@", chars(UPPER, 20)),
        "mail relay": ("[smtp.example.com]:587 app@example.com:§", plain_password),
        "connection string in XML": (
            '<add name="Db" connectionString="Source=db;Uid=app;Password=@" />', plain_password
        ),
        "validation key": ('<machineKey validationKey="@" decryptionKey="AutoGenerate" />', chars(HEX.upper(), 128)),
        "salt": ("define('NONCE_SALT', '@');", chars(ALNUM + "!#$%&*+,-./:;<=>?^_`{|}~", 64)),
        "Go DSN": ('sql.Open("mysql", "app:§@tcp(db:3306)/app")', plain_password),
        "DSN pairs in quotes": ('psycopg2.connect("dbname=app user=app password=@ host=db")', plain_password),
        "Perl DBI": ("DBI->connect('dbi:Pg:dbname=app', 'app', '@')", password),
        "mysqli": ("new mysqli('localhost', 'app', '@', 'app');", password),
        "PDO": ("new PDO('mysql:host=db;dbname=app', 'app', '@');", password),
        "DriverManager": ('DriverManager.getConnection(url, "app", "@");', password),
        "toCharArray": ('keyStore.load(in, "@".toCharArray());', password),
        "NetworkCredential": ('new NetworkCredential("app", "@")', password),
        "net use": ("net use Z: \\\\host\\share /user:app @", plain_password),
        "net user": ("net user deploy @ /add", plain_password),
        "psexec": ("psexec \\\\host -u app -p @ cmd", plain_password),
        "chpasswd": ("echo 'deploy:@' | chpasswd", plain_password),
        "useradd": ("useradd -p @ deploy", chars(ALNUM, 13)),
        "mongorestore": ("mongorestore -u app -p @ dump/", plain_password),
        "ssh-keygen": ("ssh-keygen -t ed25519 -N '@' -f key", password),
        "ansible-vault": ("ansible-vault encrypt_string '@' --name db_password", password),
        "scheme of an issuer": ("Authorization: GenieKey @", uuid),
        "key in a scheme": ("Authorization: key=@", joined("AAAA", chars(URLSAFE, 7), ":APA91b", chars(URLSAFE, 134))),
        "Infura": ("https://mainnet.infura.io/v3/@", chars(HEX, 32)),
        "Alchemy": ("https://eth-mainnet.g.alchemy.com/v2/@", chars(URLSAFE, 32)),
        "Zapier": ("https://hooks.zapier.com/hooks/catch/@", joined(chars(DIGITS, 7), "/", chars(LOWER + DIGITS, 7))),
        "code of a network": ("WIFI:T:WPA;S:Guest;P:@;;", plain_password),
        "ASP.NET cookie": (".AspNetCore.Identity.Application=@", prefixed("CfDJ8", URLSAFE, 200)),
        "jsessionid": ("https://a.example.com/a;jsessionid=@", chars(HEX.upper(), 32)),
        "signed URL": ("https://a.example.com/k?X-Amz-Credential=x&X-Amz-Signature=@", chars(HEX, 64)),
        "CSV": ("user,password\napp,@\n", password),
        "Markdown column": ("| user | password |\n| --- | --- |\n| app | @ |\n", password),
        "nested XML": ("<AdministratorPassword><Value>@</Value></AdministratorPassword>", password),
        "Go with type": ('var apiToken string = "@"', TOKEN),
        "PHP append": ('$apiToken .= "@";', TOKEN),
        "setting in lower case": ("geocoder_key=@", chars(HEX, 40)),
        "token alone on a line": ("docparser_token @", chars(HEX, 40)),
        "Cloudflare": ("@", prefixed("cfut_", ALNUM, 40)),
        "Doppler SCIM": ("@", prefixed("dp.scim.", ALNUM, 43)),
        "Hugging Face, letters": ("@", prefixed("hf_", LOWER, 34)),
        "Octopus Deploy": ("use @ for now", prefixed("API-", UPPER + DIGITS, 26)),
        "1Password": ("@", joined("A3-", *(p for n in (6, 6, 5, 5, 5) for p in (chars(UPPER, n), "-")), "A1B2C")),
    },
    "sentences and messages": {
        "error message": ("AuthError: invalid token '@' for user app", chars(HEX + UPPER, 24, 40)),
        "arrow": ("PASSWORD -> @", said_password),
        "sentence with colon": ("the db password is: @", said_password),
        "sentence, user and password": ("log in as admin with password @", long_said_password),
        "sentence, French": ("le mot de passe est @ pour le wifi", said_password),
        "sentence, Spanish": ("la contraseña es @ por ahora", said_password),
        "seed phrase": ("seed phrase: @", phrase),
        "sentence": ("The password for the guest network is @ for now", said_password),
        "sentence, German": ("Das Passwort lautet @ und gilt bis Mai", said_password),
        "sentence, Chinese": ("数据库的密码是@，请保存", said_password),
        "sentence, API key": ("our API key is @, keep it safe", chars(HEX, 32)),
        "Markdown bold": ("**Password:** @", password),
        "Markdown code": ("- token: `@`", TOKEN),
        "Markdown table": ("| api key | @ | rotated in May |", chars(ALNUM, 32)),
        "value on the next line": ("Here is the token:\n\n@\n", TOKEN),
    },
}  # fmt: skip
"""Templates and makers by group."""
FORMATS = {name: item for group in GROUPS.values() for name, item in group.items()}


def iter_samples(name: str, *, count: int = VALUES) -> Iterator[Sample]:
    """Yield samples of a format. `§` marks the value if the template contains an `@` of its own; `@@` is `VALUE@`."""
    template, make = FORMATS[name]
    rng = random.Random(f"{SEED} {name}")
    if "§" in template:
        before, after = template.split("§")
    elif "@@" in template:
        before, rest = template.split("@@")
        after = f"@{rest}"
    else:
        before, _, after = template.partition("@")
    for _ in range(count):
        yield Sample(before, make(rng), after)

"""Lists of links and headings in the text and in the ranking."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.testing import FakeEmbedder
from weft.text.link_share import is_link_list

CONTENTS = "\n".join(
    ["- [HashiCorp Vault](#hashicorp-vault)", "- [HashiCorp Consul](#hashicorp-consul)", "- [Backups](#backups)"]
)
SECTION = "HashiCorp Vault keeps the passwords of the services. The Vault hands them out for an hour."


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        (CONTENTS, True),
        ("[[Vault]]\n[[people/Ada|Ada]], [[Consul]]", True),
        ("## Install\n\n## Upgrade\n\n### From source", True),
        ("1 Install ........ 3\n2 Upgrade . . . . . 17", True),
        ("See also:\n* https://example.org/docs/vault\n* https://example.org/docs/consul", True),
        ("- [安装](install.md)\n- [升级](upgrade.md)", True),
        ("", False),
        (SECTION, False),
        ("Read [the guide](guide.md) before you start the upgrade.", False),
        ("- [Install](#install): download the archive, unpack it and start it", False),
        ("```\n# install\n# upgrade\nmake\n```", False),
        ("# read the file\n# and close it\nhandle = open(path)\nhandle.close()", False),
    ],
)
def test_a_list_of_links_or_headings_is_told_from_prose(text, is_list):
    """The labels of links, addresses and headings are most of its letters."""
    assert is_link_list(text, min_share=0.6) == is_list


@pytest.mark.parametrize("method", ["hybrid", "mix", "auto"])
def test_the_section_comes_before_the_table_of_contents(tmp_path, method):
    """The contents are shorter, so that the words and the vector of the question are closer to them."""
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(
            [
                Document(source="contents.md", title="", text=CONTENTS, form="markdown"),
                Document(source="vault.md", title="", text=SECTION, form="markdown"),
                Document(source="garden.md", title="", text="Water the tomatoes in the morning.", form="markdown"),
            ]
        )

        found = [piece.document.source for piece in engine.query("HashiCorp Vault", method=method).evidence]

    assert found[:2] == ["vault.md", "contents.md"]

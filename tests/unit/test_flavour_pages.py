"""Three pages of each flavour of Markdown: title, names, links and clean text."""
# ruff: noqa: E501  (a page is easier to compare on one line)

import re

import pytest

from weft.config import SplitOptions
from weft.extract.rules import RuleExtractor
from weft.load.formats.markdown import parse_markdown
from weft.text.markdown.flavours import FLAVOURS
from weft.text.split import split

CODE = "# Wrong Name depends on Other Name"
MARKUP = re.compile(
    r"\{\{|\{%|\{[#.:*]|:::|///|!!!|\?\?\?|===|8<|<<<|%%|\[!|\[\^|\[\[|</?[A-Za-z]|\bimport \w|^\^|\{ ?[#.]|:material"
)

PAGES = [
    # flavour, page, title, names of relations (source or target), targets of links
    ("CommonMark", f"# Harbour\n\nThe Crane depends on Hydraulics, see [Tides](tides.md).\n\n- a\n\n      {CODE}", "Harbour", "hydraulic", "tides"),
    ("CommonMark", f"Harbour\n=======\n\n> The Crane depends on Hydraulics: [Tides][t].\n>\n> ```\n> {CODE}\n> ```\n\n[t]: tides.md", "Harbour", "hydraulic", "tides"),
    ("CommonMark", f"<!-- Secret Name -->\n# Harbour #\n\nThe Crane depends on Hydraulics.\n\n<pre>\n{CODE}\n</pre>", "Harbour", "hydraulic", ""),
    ("GitHub", f"# Harbour\n\n> [!NOTE]\n> The Crane depends on Hydraulics.[^1]\n\n[^1]: See [Tides](tides.md).\n\n~~~sh\n{CODE}\n~~~", "Harbour", "hydraulic", "tides"),
    ("GitHub", f"# Harbour\n\n- [x] The Crane depends on Hydraulics.\n\n  ```\n  {CODE}\n  ```\n\n| a | b |\n| - | - |\n| [Tides](tides.md) | x |", "Harbour", "hydraulic", "tides"),
    ("GitHub", f"# Harbour\n\n<details>\n<summary>More</summary>\n\nThe Crane depends on Hydraulics.\n\n```\n{CODE}\n```\n\n</details>", "Harbour", "hydraulic", ""),
    ("Python-Markdown", f"# Harbour {{ #harbour }}\n\n/// tip | Take care\n\nThe Crane depends on Hydraulics.\n\n///\n\n{{* ./a.py hl[2:4] *}}\n\n```\n{CODE}\n```", "Harbour", "hydraulic", ""),
    ("Python-Markdown", f'# Harbour {{: #harbour .wide }}\n\n!!! note "Take care"\n    The Crane depends on Hydraulics, see [Tides](tides.md){{ .md-button }}.\n\n    ```\n    {CODE}\n    ```', "Harbour", "hydraulic", "tides"),
    ("Python-Markdown", f'# Harbour\n\n--8<-- "a.md"\n\n=== "Linux"\n\n    The Crane depends on Hydraulics. :material-check:\n\n        {CODE}\n\n??? tip\n    <dfn title="x">Tide</dfn>', "Harbour", "hydraulic", ""),
    ("Hugo", f'---\ntitle: Harbour\n---\n{{{{< note >}}}}\nThe Crane depends on {{{{< glossary_tooltip text="Hydraulics" term_id="hydraulics" >}}}}.\n{{{{< /note >}}}}\n\n{{{{< highlight sh >}}}}\n{CODE}\n{{{{< /highlight >}}}}', "Harbour", "hydraulic", ""),
    ("Hugo", f'# Harbour {{#harbour}}\n\nThe Crane depends on Hydraulics, see [Tides]({{{{< ref "tides.md" >}}}}).\n\n## {{{{% heading "next" %}}}}\n\n```\n{CODE}\n```', "Harbour", "hydraulic", "tides"),
    ("Hugo", '# Harbour\n\n{{< figure src="a.png" caption="The Crane depends on Hydraulics." >}}\n\n{{% tab name="Linux" %}}\nSee [Tides](tides.md).\n{{% /tab %}}', "Harbour", "hydraulic", "tides"),
    ("Docusaurus", f"import Tabs from '@theme/Tabs';\n\n# Harbour\n\n<Tabs groupId=\"os\">\n  <TabItem label=\"Linux\">\n\n    The Crane depends on Hydraulics.\n\n    ```\n    {CODE}\n    ```\n\n  </TabItem>\n</Tabs>", "Harbour", "hydraulic", ""),
    ("Docusaurus", f"---\ntitle: Harbour\n---\n:::tip[Take care]\n\nThe Crane depends on Hydraulics, see [Tides](./tides.md).\n\n:::\n\n```jsx title=\"a\"\n{CODE}\n```", "Harbour", "hydraulic", "tides"),
    ("Docusaurus", "export const a = {\n  b: 1,\n};\n\n# Harbour {#harbour}\n\n{/* Secret Name */}\nThe Crane depends on Hydraulics.", "Harbour", "hydraulic", ""),
    ("VitePress", f"<script setup>\nimport X from './X.vue'\n</script>\n\n# Harbour {{#harbour}}\n\n::: warning Take care\nThe Crane depends on Hydraulics.\n:::\n\n```js{{1}}\n{CODE}\n```", "Harbour", "hydraulic", ""),
    ("VitePress", "# Harbour <Badge type=\"tip\" text=\"new\" />\n\n[[toc]]\n\nThe Crane depends on Hydraulics, see <RouterLink to=\"/tides\">Tides</RouterLink>.\n\n<<< @/a.js", "Harbour", "hydraulic", "tides"),
    ("VitePress", f"# Harbour\n\n<div class=\"options-api\">\n\nThe Crane depends on Hydraulics, see [Tides](/tides#x).\n\n</div>\n\n::: code-group\n```sh [npm]\n{CODE}\n```\n:::", "Harbour", "hydraulic", "tides"),
    ("Obsidian", "---\ntags: [a]\n---\n# Harbour\n\n> [!warning]- Take care\n> The Crane depends on Hydraulics.\n\n![[map.png]] [[Tides#Spring|tides]] ^id-1", "Harbour", "hydraulic", "tides"),
    ("Obsidian", f"# Harbour ^top\n\nThe Crane depends on ==Hydraulics==. %%Secret Name%%\n\n```dataview\n{CODE}\n```", "Harbour", "hydraulic", ""),
    ("Obsidian", "# Harbour\n\n- [ ] The Crane depends on Hydraulics, see [[notes/Tides]]. ^task\n\n%%\nSecret Name\n%%", "Harbour", "hydraulic", "tides"),
    ("Jekyll", f"---\ntitle: Harbour\n---\n{{% include nav.html %}}\n\nThe Crane depends on Hydraulics.\n{{: .note }}\n\n{{% highlight sh %}}\n{CODE}\n{{% endhighlight %}}", "Harbour", "hydraulic", ""),
    ("Jekyll", "# Harbour\n{: .no_toc }\n\n{% if page.a %}\nThe Crane depends on Hydraulics, see [Tides]({% link tides.md %}).\n{% endif %}", "Harbour", "hydraulic", "tides"),
    ("Jekyll", f"# Harbour {{#harbour}}\n\nThe Crane depends on Hydraulics, see [Tides]({{{{ site.baseurl }}}}/tides).\n\n{{% raw %}}\n{CODE}\n{{% endraw %}}", "Harbour", "hydraulic", "tides"),
    ("MyST", f"(harbour)=\n# Harbour\n\n```{{note}} Take care\n:class: x\nThe Crane depends on Hydraulics.\n```\n\n```{{code-block}} sh\n{CODE}\n```", "Harbour", "hydraulic", ""),
    ("MyST", f"# Harbour\n\n:::{{warning}}\nThe Crane depends on Hydraulics, see [Tides](tides.md) and {{ref}}`more <x>`.\n:::\n\n```{{code-cell}}\n{CODE}\n```", "Harbour", "hydraulic", "tides"),
    ("MyST", f"# Harbour\n\n~~~{{admonition}} Take care\nThe Crane depends on Hydraulics.\n\n```\n{CODE}\n```\n~~~", "Harbour", "hydraulic", ""),
]  # fmt: skip


@pytest.mark.parametrize(("flavour", "text", "title", "name", "link"), PAGES)
def test_a_page_of_a_flavour(flavour, text, title, name, link):
    """No id, shortcode, tag or directive is in a title, name or indexed text, and code states nothing."""
    source = "docs/a.mdx" if flavour == "Docusaurus" else "docs/a.md"
    document = parse_markdown(text, source=source, name="a")
    chunks = split(document, document_id="d", options=SplitOptions())
    found = RuleExtractor().extract(document, chunks)
    stated_relations = [stated for part in found for stated in part.stated_relations]
    names = [item.name for part in found for item in part.candidates]
    targets = {
        re.split(r"[/|#]", stated.target.lstrip("!"))[0] for stated in stated_relations if stated.type == "links_to"
    }

    assert (
        document.title,
        {stated.target for stated in stated_relations if stated.type == "depends_on"},
    ) == (title, {name})
    assert targets - {"map.png"} == ({link} if link else set())
    assert not [shown for shown in [document.title, *names] if MARKUP.search(shown)]
    assert not any(word in " ".join(names) for word in ("Wrong Name", "Other Name", "Secret Name"))
    first = text.count("\n") - document.text.count("\n")  # front matter
    at = next(i for i, line in enumerate(document.text.split("\n")) if "Crane depends on" in line)
    assert "Crane depends on" in text.split("\n")[first + at]


def test_every_flavour_has_three_pages():
    """The table of flavours and these pages agree."""
    assert {flavour.name: 3 for flavour in FLAVOURS} == {
        name: sum(page[0] == name for page in PAGES) for name in {page[0] for page in PAGES}
    }

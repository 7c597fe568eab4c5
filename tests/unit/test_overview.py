"""Overview of a graph: sections folded into pages, long pages that are no hubs, and paths past the hubs."""

from weft import open_engine

REST = "The rest is as it was. " * 40
LONG = "# Release Notes\n\n" + "".join(f"## 0.{n}\n\nFixed [[Ledger]]. {REST}\n\n" for n in range(40))


def index(tmp_path, **texts):
    engine = open_engine(db=tmp_path / "weft.db", embedder="none")
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    engine.index(tmp_path)
    return engine


def test_a_title_counts_once_in_its_own_document(tmp_path):
    """Every passage of a page is about it, but it is spread no further than a page that nobody names."""
    with index(tmp_path, notes=LONG, ledger="# Ledger\n\nKeeps money.\n") as engine:
        view = engine.entities.overview()
    spread = {entity.name: (entity.chunks, spread) for entity, spread in zip(view.entities, view.spread, strict=True)}

    assert spread["Release Notes"][0] >= 5 > spread["Release Notes"][1] == 1
    assert list(view.spread) == sorted(view.spread, reverse=True)
    assert set(view.folders) == {str(tmp_path)} or set(view.folders) == {""}


def test_a_section_is_folded_into_its_page(tmp_path):
    """Its relations are those of the page."""
    volumes = "# Volumes\n\nText.\n\n## csi\n\nA driver.\n"
    with index(tmp_path, volumes=volumes, driver="# Driver\n\nSee [csi](volumes.md#csi).\n") as engine:
        view = engine.entities.overview()
    names = {entity.id: entity.name for entity in view.entities}

    assert "Volumes › csi" not in names.values()
    assert ("Driver", "Volumes") in {(names[r.source_id], names[r.target_id]) for r in view.relations}


def test_a_path_goes_past_a_hub(tmp_path):
    """Two pages that both link to the home page are connected by the page between them, although that is longer."""
    others = {f"p{n}": f"# Page {n}\n\nBack to the [Atlas Portal](home.md).\n" for n in range(60)}
    chain = {
        "start": "# Start\n\nBack to the [Atlas Portal](home.md). See [first](first.md).\n",
        "first": "# First\n\nSee [second](second.md).\n",
        "second": "# Second\n\nSee [end](end.md).\n",
        "end": "# End\n\nBack to the [Atlas Portal](home.md).\n",
    }
    with index(tmp_path, home="# Atlas Portal\n\nAll.\n", **others, **chain) as engine:
        path = engine.entities.path("Start", "End")

    assert [step.target for step in path] == ["First", "Second", "End"]

"""Suggestions of entities that may be one, on every store."""

from dataclasses import replace

import pytest
from contract import MODEL, make_batch

from weft.engine import similar_names
from weft.engine.entities import Entities
from weft.errors import InputError
from weft.extract.names import name_key, whole_key
from weft.records import Candidate, Extraction, StatedRelation


def write(store, source, *names, stated_relations=(), types=None, keyed=name_key, text=""):
    """Write a document that defines names, each of which stands in its text."""
    batch = make_batch(source, [text or ". ".join(names)], namespace=store.namespace)
    candidates = tuple(
        Candidate(key=keyed(name), name=name, kind="definition", type=(types or {}).get(name, "")) for name in names
    )
    links = tuple(
        StatedRelation(source=keyed(a), target=keyed(b), type="uses", weight=7.0) for a, b in stated_relations
    )
    item = replace(batch.chunks[0], extraction=Extraction(candidates=candidates, stated_relations=links))
    store.write(replace(batch, chunks=(item,)))


def pairs(found):
    return [(pair.entity.name, pair.into.name, pair.why) for pair in found]


def test_the_rarer_name_is_to_be_merged_into_the_usual_one(store):
    """With how they differ, and what both are related to."""
    write(store, "one", "Kubernetes", "Docker", stated_relations=[("Kubernetes", "Docker")])
    write(store, "two", "Kubernetes", "Iran")
    write(store, "three", "Kubernets", "Docker", "Iraq", stated_relations=[("Kubernets", "Docker")])
    found = Entities(store).similar()

    assert pairs(found) == [("Kubernets", "Kubernetes", "one letter is missing")]
    assert (found[0].entity.chunks, found[0].into.chunks) == (1, 2)
    assert found[0].shared == 1


def test_two_titles_with_the_same_letters_are_suggested(store):
    """Documents name both in their own right, so they were not joined by themselves."""
    write(store, "one", "PostgreSQL", text="PostgreSQL. PostgreSQL.")
    write(store, "two", "Postgre SQL")

    assert pairs(Entities(store).similar()) == [("Postgre SQL", "PostgreSQL", "only spaces differ")]


def test_pairs_of_one_type_and_with_one_neighbour_come_first(store):
    """Rarer names follow, then longer ones; a limit cuts the end."""
    write(store, "one", "Prometheus", "Promethius", types={"Prometheus": "film", "Promethius": "service"})
    write(store, "two", "Elasticsearch", "Elasticsaerch")
    write(store, "three", "Grafana Dashboard", "Grafana Dashbord", "Loki")
    stated_relations = [("Terraform", "Vault"), ("Teraform Cloud", "Vault"), ("Terraform Cloud", "Vault")]
    write(store, "four", "Terraform Cloud", "Teraform Cloud", "Vault", "Terraform", stated_relations=stated_relations)
    entities = Entities(store)

    expected = ["Terraform Cloud", "Grafana Dashbord", "Elasticsearch", "Promethius"]
    assert [pair.entity.name for pair in entities.similar()] == expected
    assert [pair.entity.name for pair in entities.similar(limit=2)] == expected[:2]


def test_merging_them_is_undone_name_by_name(store):
    """A slip of a slip becomes a name of the usual spelling too, and each can be parted from it."""
    write(store, "one", "Elasticsearch", "Elasticserch", "Elasticerch")
    write(store, "two", "Elasticsearch", "Elasticserch")
    write(store, "three", "Elasticsearch")
    entities = Entities(store)
    before = store.graph.entities_after("", limit=9)
    found = entities.similar()
    merged = entities.merge_similar(found)

    assert {(pair.entity.name, pair.into.name, name) for pair, name in merged} == {
        ("Elasticserch", "Elasticsearch", "Elasticserch"),
        ("Elasticerch", "Elasticserch", "Elasticerch"),
    }
    assert entities.get("elasticerch").aliases == ("Elasticerch", "Elasticserch")
    assert {value for _, _, value in store.graph.edits()} == {"elasticsearch"}
    assert entities.similar() == []
    assert entities.merge_similar(found) == []
    for _, name in merged:
        entities.unmerge(name)
    assert store.graph.edits() == []
    assert store.graph.entities_after("", limit=9) == before


def test_a_paper_whose_key_has_its_parentheses_is_parted_by_the_name_given(store):
    """The name of a merge is found as it is when it is shown."""
    names = ("Gamma Function (Algorithm 31)", "Gamma Functoin (Algorithm 31)", "Gamma Function")
    write(store, "one", *names, keyed=whole_key)
    entities = Entities(store)
    merged = entities.merge_similar(entities.similar())

    assert [name for _, name in merged] == ["Gamma Functoin (Algorithm 31)"]
    entities.unmerge(merged[0][1])
    assert store.graph.edits() == []


def test_a_renamed_entity_is_parted_by_a_name_that_leads_to_it(store):
    """The displayed name may belong to another entity."""
    write(store, "one", "Prometheus", "Promethus", text="Prometheus. Prometheus. Promethus.")
    entities = Entities(store)
    entities.rename("Promethus", "Alerts")
    [(pair, name)] = entities.merge_similar(entities.similar())

    assert (pair.entity.name, name) == ("Alerts", "promethus")
    entities.unmerge(name)
    assert [kind for kind, _, _ in store.graph.edits()] == ["rename"]
    with pytest.raises(InputError):
        entities.unmerge(name)


def test_what_was_parted_is_not_suggested_again(store):
    """Documents say that it is one; somebody said that it is not."""
    write(store, "one", "Postgre SQL")
    batch = make_batch("two", ["PostgreSQL"])
    link = Extraction(candidates=(Candidate(key="postgresql", name="PostgreSQL", kind="link"),))
    store.write(replace(batch, chunks=(replace(batch.chunks[0], extraction=link),)))
    entities = Entities(store)
    assert entities.get("PostgreSQL").name == "Postgre SQL"
    entities.unmerge("PostgreSQL")

    assert entities.get("PostgreSQL").name == "PostgreSQL"
    assert entities.similar() == []


def test_other_namespaces_are_left_alone(database):
    """A name is compared with those beside it."""
    for namespace, name in (("mine", "Kubernetes"), ("theirs", "Kubernets")):
        store = database.store(namespace)
        store.write_model(MODEL)
        write(store, "one", name)

    assert Entities(database.store("mine")).similar() == []


def test_names_are_read_page_by_page_and_counted(store, monkeypatch):
    """More than a page, with a pair across its end."""
    monkeypatch.setattr(similar_names, "PAGE_ENTITIES", 50)
    names = [*(f"Kubernet {number:04}" for number in range(49)), "Kubernetical", "Kubernetixal"]
    write(store, "one", *names)
    steps = []

    assert pairs(Entities(store).similar(on_step=steps.append)) == [
        ("Kubernetixal", "Kubernetical", "one letter differs")
    ]
    assert steps == [50, 1]

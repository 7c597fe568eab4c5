"""
Several namespaces, searched as one. Read only.

    federated_store    StoreReader: rankings with the statistics of all members
    federated_graph    GraphReader: entities of equal keys are one entity
    federated_facts    FactReader: the facts of all members
    entity_keys        ids of joined entities, and their statistics in each member
    members            a member and the ids of its documents, chunks and facts
    duplicates         documents that an earlier member has too

The members are asked by the methods of `store.base` only, so any stores can be combined.
"""

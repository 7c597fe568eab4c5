"""Small library of papers as research findings."""

MAGMA = "MAGMA: A Multi-Graph Memory Architecture for Agents"
"""The paper most questions of these tests are about."""

FINDINGS = {
    "academic_papers": [
        {
            "arxiv_id": "2501.03236",
            "title": MAGMA,
            "abstract": "Agents remember in several graphs at once.",
            "year": 2025,
            "authors": ["Ada Lovelace", "Turing, A."],
            "concepts": ["semantic memory", "graph memory"],
            "references": [
                {"doi": "10.1145/363011.363155"},
                "arXiv:1706.03762",
                {"title": "A Paper Nobody Has"},
            ],
        },
        {
            "doi": "10.1145/363011.363155",
            "title": "Paging in Small Memories",
            "abstract": "Pages are moved when they are needed.",
            "year": 1969,
            "authors": ["Turing, A."],
            "concepts": ["paging"],
        },
        {
            "arxiv_id": "2502.00001",
            "title": "Forgetting on Purpose",
            "abstract": "What is not used is dropped.",
            "year": 2025,
            "authors": ["Ada Lovelace"],
            "references": ["https://arxiv.org/abs/2501.03236v2"],
        },
        {
            "arxiv_id": "2601.00002",
            "title": "Long Conversations without Loss",
            "abstract": "Old turns are kept in short form.",
            "year": 2026,
            "concepts": ["semantic memory"],
            "references": ["2501.03236", {"doi": "10.1145/363011.363155"}, "1706.03762"],
        },
        {
            "arxiv_id": "2602.00003",
            "title": "A Survey of Agent Memory",
            "abstract": "Forty systems are compared.",
            "year": 2026,
            "authors": ["Hopper, G."],
            "references": ["arXiv:2502.00001"],
        },
        {
            "arxiv_id": "1706.03762",
            "title": "Attention and Its Costs",
            "abstract": "Every word looks at every other.",
            "authors": ["Hopper, G."],
        },
        {"arxiv_id": "9901.00004", "title": "Editorial", "abstract": "Welcome.", "references": ["1706.03762"]},
        {"arxiv_id": "9902.00005", "title": "Editorial", "abstract": "Good-bye.", "references": ["9901.00004"]},
        {"arxiv_id": "9903.00006", "title": "A Reply", "references": ["9901.00004"], "abstract": "We disagree."},
        {"arxiv_id": "9904.00007", "title": "Notes on a Reply", "references": ["9902.00005"], "abstract": "We agree."},
        {"arxiv_id": "9905.00008", "title": "图灵机与学习", "abstract": "机器可以学习。", "year": 1950,
         "authors": ["华罗庚"], "concepts": ["机器学习"]},
        {"arxiv_id": "9906.00009", "title": "学习的边界", "abstract": "并非一切可学。", "year": 1972,
         "authors": ["华罗庚"], "references": ["9905.00008"]},
    ],
    "github_projects": [
        {"name": "example/magma", "description": "Implements arXiv:2501.03236 with paging.", "stars": 12},
    ],
}  # fmt: skip

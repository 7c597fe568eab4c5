# PostgreSQL with Citus and pgvector. The Citus image has the package source that also carries pgvector.
FROM citusdata/citus:13.0
# The package source keeps one version of pgvector only.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-17-pgvector \
 && rm -rf /var/lib/apt/lists/*
HEALTHCHECK --interval=5s --timeout=3s CMD ["pg_isready", "--host", "127.0.0.1"]
USER 999

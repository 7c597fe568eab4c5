# Image of the HTTP server: `docker build -t weft .`
# With a model inside: `docker build --build-arg MODEL=local/granite-30m -t weft .`

FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE CHANGELOG.md CONTRIBUTING.md Makefile requirements.lock ./
COPY src src
RUN python -m pip install --no-cache-dir "build==1.3.0" && python -m build --wheel --outdir /wheels

FROM python:3.12-slim
ARG EXTRAS=html,pdf,docx,bibtex,code,openai,mcp,serve,postgres,scale,zh
ARG MODEL=""
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    WEFT_DB=/data/weft.db \
    WEFT_CACHE_DIR=/opt/weft/cache
COPY --from=build /wheels /wheels
COPY requirements.lock /wheels/
RUN wheel="$(ls /wheels/*.whl)" \
 && python -m pip install --no-cache-dir --constraint /wheels/requirements.lock "${wheel}[${EXTRAS}]" \
 && rm -r /wheels \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin weft \
 && mkdir -p /data /opt/weft/cache \
 && if [ -n "$MODEL" ]; then weft models fetch "$MODEL"; fi \
 && chown -R weft /data /opt/weft/cache
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8321/health', timeout=4)"]
ENTRYPOINT ["weft"]
CMD ["serve", "--host", "0.0.0.0"]

# The bot, ready for Slack. compose.yaml runs it beside a Redis; by itself:
#   docker build -t hitl-bot .
#   docker run --env-file .env -e HITL_REDIS_URL=redis://… -p 3000:3000 hitl-bot
# One half of it alone: docker run … hitl-bot serve --only http (or workers).

# Every version is exact: of the base image by its tag, of packages and of what builds ours by constraints.txt.
# They are not pinned by hash: pip wants hashes of all or none, for each platform that builds this, and a list that
# nobody here can check would only look safe. Who needs them makes one with pip-compile --generate-hashes.
FROM python:3.12.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /build && python -m venv /venv
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
# Without isolation: an isolated build would take the newest of all that it needs.
RUN /build/bin/pip install --constraint constraints.txt hatchling
COPY hitl_core ./hitl_core
COPY bot ./bot
COPY slack_sandbox ./slack_sandbox
RUN /build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /dist .
RUN /venv/bin/pip install --constraint constraints.txt "$(echo /dist/*.whl)[slack]"

FROM python:3.12.12-slim-bookworm
# HOME: Slack's SDK asks for one when it is imported, and this user has none of its own.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/app \
    HITL_HOST=0.0.0.0 HITL_PORT=3000
COPY --from=build /venv /venv
WORKDIR /app
USER 10001:10001
EXPOSE 3000
# The bot finishes what it has begun and ends within 10 s, which is Docker's own patience.
STOPSIGNAL SIGTERM
# That it answers, not that Redis and Slack are well (/readyz): restarting the bot mends neither.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import http.client, os; bot = http.client.HTTPConnection('127.0.0.1', int(os.environ['HITL_PORT']), timeout=2); bot.request('GET', '/healthz'); raise SystemExit(bot.getresponse().status != 200)"]
ENTRYPOINT ["hitl"]
CMD ["serve"]

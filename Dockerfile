# The bot, ready for Slack and Teams. compose.yaml runs it together with Redis. Without compose:
#   docker build -t hitl-bot .
#   docker run --env-file .env -e HITL_REDIS_URL=redis://… -p 3000:3000 hitl-bot
# Only one role of the bot: docker run … hitl-bot serve --only http (or workers).

# Every version is exact: the base image by its tag, the packages and the build tools by constraints.txt.
# There are no hashes: pip needs hashes for all packages or none, on each platform that builds this, and a list that
# nobody here can check would only look safe. If you need hashes, use pip-compile --generate-hashes.
FROM python:3.12.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /build && python -m venv /venv
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
# Without isolation: an isolated build would use the newest versions of the build tools.
RUN /build/bin/pip install --constraint constraints.txt hatchling
COPY hitl_core ./hitl_core
COPY bot ./bot
COPY slack_sandbox ./slack_sandbox
COPY teams_sandbox ./teams_sandbox
RUN /build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /dist .
RUN /venv/bin/pip install --constraint constraints.txt "$(echo /dist/*.whl)[slack,teams]"

FROM python:3.12.12-slim-bookworm
# HOME: Slack's SDK needs it at import, and this user has no home directory.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/app \
    HITL_HOST=0.0.0.0 HITL_PORT=3000
COPY --from=build /venv /venv
WORKDIR /app
USER 10001:10001
EXPOSE 3000
# The bot finishes its work and stops within 10 s, Docker's default limit.
STOPSIGNAL SIGTERM
# Checks that the bot answers, not that Redis and the chat systems work (/readyz): a restart of the bot would fix neither.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import http.client, os; bot = http.client.HTTPConnection('127.0.0.1', int(os.environ['HITL_PORT']), timeout=2); bot.request('GET', '/healthz'); raise SystemExit(bot.getresponse().status != 200)"]
ENTRYPOINT ["hitl"]
CMD ["serve"]

# The bot, ready for Slack:
#   docker build -t hitl-bot .
#   docker run -p 3000:3000 -e SLACK_BOT_TOKEN -e SLACK_SIGNING_SECRET -e HITL_REDIS_URL -e HITL_CHANNEL \
#     -e HITL_POLICY=/policy.yaml -v "$PWD/policy.yaml:/policy.yaml:ro" hitl-bot

FROM python:3.12.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /venv
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY hitl_core ./hitl_core
RUN /venv/bin/pip install --constraint constraints.txt ".[slack]"

FROM python:3.12.12-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HITL_HOST=0.0.0.0 HITL_PORT=3000
COPY --from=build /venv /venv
WORKDIR /app
COPY bot ./bot
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"HITL_PORT\"]}/healthz', timeout=2)"]
ENTRYPOINT ["python", "-m", "bot"]
CMD ["serve"]

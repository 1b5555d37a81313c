# Sic et Non for TIRA and for `docker run`. No step and no command needs the network once it is built.
#   docker build -t sicetnon .
#   docker run --rm sicetnon search "Should teachers get tenure?"
# Without a command it does the task SICETNON_TASK, from $inputDataset to $outputDir, as on TIRA.
#   docker run --rm -v "$PWD/in:/in:ro" -v "$PWD/out:/out" sicetnon run touche-2020-task-1 -i /in -o /out/run
FROM python:3.11-slim AS builder
WORKDIR /source
COPY . .
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN python -m venv /opt/sicetnon \
 && /opt/sicetnon/bin/pip install --no-cache-dir --constraint constraints.txt ".[measures]"

FROM python:3.11-slim
ARG VERSION=0.1.0
# for ir-metadata.yml: docker build --build-arg COMMIT="$(git rev-parse HEAD)" -t sicetnon .
ARG COMMIT=
LABEL org.opencontainers.image.title="Sic et Non" \
      org.opencontainers.image.description="Argument retrieval: strong arguments for and against" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=builder /opt/sicetnon /opt/sicetnon
COPY run.sh /usr/local/bin/run.sh
ENV PATH=/opt/sicetnon/bin:$PATH \
    SICETNON_CACHE=/home/sicetnon/cache \
    SICETNON_COMMIT=$COMMIT
RUN useradd --create-home --uid 1000 sicetnon
USER 1000
WORKDIR /home/sicetnon
# compiles the kernels and indexes the sample, so that the first answer comes at once
RUN sicetnon search "Should teachers get tenure?" > /dev/null
ENTRYPOINT ["sicetnon"]

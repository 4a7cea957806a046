# csv-agent in an image, run by a user that is not root. The build takes a release of Rust and many minutes.
#
#   docker build -t csv-agent .                          with the Python packages, for language models
#   docker build -t csv-agent:small --target small .     without Python: SQL, checks, the built-in analyst
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" csv-agent describe orders.csv
FROM rust:1.95-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip \
    && pip install --break-system-packages maturin==1.16.0
WORKDIR /src
COPY . .
RUN maturin build --release --locked --out /dist \
    && python3 -m zipfile -e /dist/*.whl /wheel \
    && install -m 755 /wheel/*.data/scripts/csv-agent /usr/local/bin/

FROM gcr.io/distroless/cc-debian12:nonroot AS small
COPY --from=build /usr/local/bin/csv-agent /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/csv-agent"]

FROM python:3.13-slim-bookworm
COPY --from=build /dist /dist
RUN pip install --no-cache-dir /dist/*.whl && rm -r /dist && useradd --create-home --uid 65532 nonroot
USER nonroot
ENV HOME=/home/nonroot
WORKDIR /data
ENTRYPOINT ["csv-agent"]

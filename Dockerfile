# docker build -t smdp .
# docker run --rm -p 127.0.0.1:8501:8501 -v smdp-work:/home/smdp smdp
# The address that it prints lets you in; see docs/server.md.
FROM python:3.12-slim

# A browser draws the figures of reports.
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium \
    && rm -rf /var/lib/apt/lists/*

# PyTorch for the processor alone saves gigabytes: --build-arg TORCH_INDEX= and the address that
# PyTorch's page "Start locally" names for CPU.
ARG TORCH_INDEX=""
WORKDIR /opt/smdp
COPY constraints.txt ./
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir -c constraints.txt --index-url "$TORCH_INDEX" torch; \
    fi
COPY . .
RUN pip install --no-cache-dir -c constraints.txt . \
    && useradd --create-home smdp

USER smdp
WORKDIR /home/smdp
EXPOSE 8501
ENTRYPOINT ["smdp", "dashboard", "--in-container", "--port", "8501"]

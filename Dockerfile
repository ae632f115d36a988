# The server only: an agent belongs on its host as a systemd service, not in a container.
FROM node:20-bookworm AS build
WORKDIR /src
# The SQLite driver compiles where no ready-made binary can be had.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
COPY packages/shared/package.json packages/shared/
COPY packages/agent/package.json packages/agent/
COPY packages/server/package.json packages/server/
COPY packages/cli/package.json packages/cli/
RUN npm ci --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs && npm prune --omit=dev

FROM node:20-bookworm-slim
WORKDIR /opt/gpufleet
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/package.json package.json
COPY --from=build /src/packages packages
RUN install -d -o node -g node -m 0700 /var/lib/gpufleet-server
USER node
VOLUME /var/lib/gpufleet-server
EXPOSE 8080
ENV NODE_ENV=production
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "packages/server/dist/server.mjs"]
CMD ["start", "--host", "0.0.0.0", "--port", "8080", "--database", "/var/lib/gpufleet-server/fleet.db", "--state-dir", "/var/lib/gpufleet-server"]

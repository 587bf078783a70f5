# idp as an image: docker build -t idp .
# It runs as a user without rights, and needs no writable root file system: docker run --read-only -p 127.0.0.1:4370:4370 -v idp-data:/data idp
# Data is in the volume /data. Give the container a fixed name (--hostname idp): by it the lock of a killed one is known to be dead.
FROM node:22.21.1-alpine AS build
WORKDIR /idp
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
# npm ci builds too.
RUN npm ci --no-audit --no-fund && npm prune --omit=dev

FROM node:22.21.1-alpine
LABEL org.opencontainers.image.title="idp" \
  org.opencontainers.image.description="The OAuth 2.0 and OpenID Connect identity provider for development and CI" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="0.1.0"
ENV NODE_ENV=production IDP_HOST=0.0.0.0 IDP_DATA=/data
WORKDIR /idp
COPY --from=build /idp/package.json ./
COPY --from=build /idp/node_modules node_modules
COPY --from=build /idp/dist dist
COPY bin bin
COPY fixtures fixtures
COPY templates templates
# `docker exec … idp users list`
RUN ln -s /idp/bin/idp.js /usr/local/bin/idp
# Any user id may run it (docker run --user 12345, OpenShift): a user that is unknown here has the group 0, which may write here.
RUN install -d -o root -g 0 -m 0770 /data
VOLUME /data
USER 1000:0
EXPOSE 4370
HEALTHCHECK --interval=5s --retries=6 CMD ["node", "/idp/bin/idp.js", "wait", "--timeout", "0"]
# Node.js itself is process 1 and takes SIGTERM: open requests are answered, and the data is on disk.
ENTRYPOINT ["node", "/idp/bin/idp.js"]
CMD ["start"]

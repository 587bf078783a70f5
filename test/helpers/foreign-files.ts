import type { ToolName } from "../../src/migrate/tool-names.ts";

/** The sample files of other tools in `test/fixtures-from`: a tool, and the files that it reads together. */
export const foreignFiles: readonly [ToolName, ...string[]][] = [
  ["keycloak", "keycloak-realm.json"],
  ["auth0", "auth0-users.ndjson"],
  ["auth0", "auth0-import.json"],
  ["dex", "dex.yaml"],
  ["soluto", "soluto-users.yaml", "soluto-clients.json"],
  ["navikt", "navikt.json"],
  ["hydra", "hydra.json"],
  ["auth0", "auth0-tenant.yaml"],
  ["emulate", "emulate.yaml"],
  ["fusionauth", "fusionauth.json"],
  ["authelia", "authelia.yml", "authelia-users.yml"],
  ["keycloak", "keycloak-step-up.json"],
  ["dex", "dex-device.yaml"],
  ["fusionauth", "fusionauth-variables.json"],
  ["authelia", "authelia-loose.yml"],
];

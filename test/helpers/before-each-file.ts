import fc from "fast-check";
import "./authorities.ts";
import { putKeysBack } from "./quick-crypto.ts";

/** What runs before each file of tests. */

putKeysBack();

// `npm test` tries the same values every time, so that it passes or fails with the code; `npm run test:long` tries new ones.
if (process.env["IDP_RUNS"] === undefined) fc.configureGlobal({ seed: 1 });

#!/usr/bin/env node
// Node 22.1 and later keep what V8 compiled for the next run.
require("node:module").enableCompileCache?.();
require("../dist/cli/main.cjs");

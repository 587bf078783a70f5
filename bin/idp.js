#!/usr/bin/env node
const { load } = require("../dist/cli/compiled.cjs");
load(require.resolve("../dist/cli/main.cjs"));

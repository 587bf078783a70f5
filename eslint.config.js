import js from "@eslint/js";
import tseslint from "typescript-eslint";

/** Imports point right, never back: bin → cli → serve → http → core → store/store.ts; cli → migrate → core; cli → check → serve and client, which stands alone. src/jwt, src/net, src/text, src/files and src/scim serve all of them. */
const layer = (files, groups) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns: groups }] },
});
const from = (folder, message) => ({ regex: `^(\\.\\./)+${folder}/|^\\./${folder}/`, message });
const named = (regex, message) => ({ regex, message });

const noCli = from(
  "cli",
  "Only bin imports the command line. What two commands share belongs in core, what needs Express in http.",
);
const noServe = from(
  "serve",
  "Only the library and the command line start a server: take what it opened as an argument.",
);
const noHttp = from("http", "core knows nothing of HTTP: return a result and let src/http turn it into an answer.");
const noCore = from("core", "store knows records and nothing of OAuth: the rule belongs in src/core.");
const noClient = from(
  "client",
  "src/client acts against servers, ours and others: only the command line and src/check use it.",
);
const noCheck = from("check", "src/check judges apps from outside: only the command line uses it.");
/** @param up from a folder of src/check to that */
const noCheckOf = (up) =>
  named(
    `^${up}\\.\\./(client|api|sp|scim|leaver)/`,
    "A check knows no other, and the frame none: what two need belongs in src/check/shared, what one needs is handed in.",
  );
const onlyRows = named(
  "^(\\.\\./)+core/(?!([\\w-]+/)*(faults|settings|scopes)/)",
  "A case judges from outside: it may read rows of core (flaws, settings, scopes), and call none of its functions.",
);
const aloneClient = named(
  "^(\\.\\./)+(cli|check|serve|http|core|store|migrate)/",
  "src/client knows providers and apps from outside only: nothing of our server may make a check pass.",
);
const noMigrate = from(
  "migrate",
  "src/migrate reads files of other tools for the command line: what the server needs too belongs in core.",
);
const aloneLeaf = named(
  "^\\.\\./",
  "src/net, src/text, src/files and src/scim serve every layer, and import none of them.",
);
const aloneJwt = named(
  "^(\\.\\./)+(cli|check|serve|http|core|store|migrate|client|net|files|scim)/",
  "src/jwt checks tokens of anybody: what knows this server belongs in src/core.",
);
const noFilesOfOurs = from("files", "core knows nothing of files: take what was read as an argument.");
const noAdapters = named(
  "store/(?!store\\.ts$)",
  "Only src/serve and src/cli open a store; take the port (store/store.ts) from the context.",
);
const noFiles = named(
  "^(node:fs|node:fs/promises|express|lowdb)$",
  "core knows nothing of files, Express or lowdb: take what was read as an argument.",
);
const noStore = named(
  "store/",
  "http never touches the store's adapters: call an operation of core. Types of records come from store/store.ts.",
);

const noClock = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: "Nothing reads the wall clock on the side: use ctx.now().",
};
const noSuperlative = {
  selector: "VariableDeclarator[id.name=/^(?:most|longest|largest|least|shortest|few)(?:[A-Z]|$)/]",
  message: "Limits begin with max or min.",
};
const noPatience = {
  selector: "VariableDeclarator[id.name=/patience$/i]",
  message: "Time limits end in TimeoutMs, or in the unit that they have.",
};
const noRecords = {
  selector: "MemberExpression[property.name='store'], ObjectPattern > Property[key.name='store']",
  message: "http never touches the store: call a function of core, which reads what is needed.",
};

export default tseslint.config(
  { ignores: ["dist/", "binary/", "shots/", "coverage/"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/prefer-optional-chain": "off",
      "@typescript-eslint/require-await": "off",
      // Express hands its own requests to middleware that is typed for the same ones.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/prefer-nullish-coalescing": "off",
      "@typescript-eslint/dot-notation": "off",
      "@typescript-eslint/no-non-null-assertion": "error",
      // It asks for the assertion that the rule above forbids.
      "@typescript-eslint/non-nullable-type-assertion-style": "off",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-restricted-syntax": ["error", noClock],
    },
  },
  {
    files: ["**/*.js"],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false },
      globals: Object.fromEntries(
        ["process", "console", "fetch", "URL", "URLSearchParams"].map((name) => [name, "readonly"]),
      ),
    },
  },
  {
    // Starts faster as CommonJS (docs/decisions/command-line-in-few-files.md).
    files: ["bin/*.js"],
    languageOptions: { sourceType: "commonjs", globals: { require: "readonly" } },
    rules: { "@typescript-eslint/no-require-imports": "off" },
  },
  {
    // Runs in browsers.
    files: ["templates/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: Object.fromEntries(
        [
          "document",
          "navigator",
          "location",
          "fetch",
          "setTimeout",
          "CSS",
          "DOMParser",
          "EventSource",
          "atob",
          "btoa",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
  { files: ["src/**"], rules: { "max-lines": ["error", 300] } },
  { files: ["src/**"], rules: { "no-restricted-syntax": ["error", noClock, noSuperlative, noPatience] } },
  layer(["src/store/**"], [noCore, noHttp, noServe, noCli, noCheck, noClient, noMigrate]),
  layer(["src/core/**"], [noHttp, noServe, noCli, noCheck, noClient, noMigrate, noAdapters, noFiles, noFilesOfOurs]),
  layer(["src/migrate/**"], [noHttp, noServe, noCli, noCheck, noClient, noAdapters, noFiles]),
  layer(["src/check/*/*.ts"], [noHttp, noCli, noMigrate, noAdapters, noCheckOf("")]),
  layer(["src/check/*/*/*.ts"], [noHttp, noCli, noMigrate, noAdapters, noCheckOf("\\.\\./")]),
  layer(["src/check/*/{cases,flaws}/*.ts"], [noHttp, noCli, noMigrate, noAdapters, noCheckOf("\\.\\./"), onlyRows]),
  layer(["src/client/**"], [aloneClient]),
  layer(["src/jwt/**"], [aloneJwt]),
  layer(["src/net/**", "src/text/**", "src/files/**"], [aloneLeaf]),
  layer(["src/scim/**"], [{ ...aloneLeaf, regex: "^\\.\\./(?!text/)" }]),
  layer(["src/serve/**"], [noCli, noCheck, noClient, noMigrate]),
  layer(
    ["src/http/**"],
    [noServe, noCli, noCheck, noClient, noMigrate, { ...noStore, regex: "store/(?!store\\.ts$)" }],
  ),
  {
    files: ["src/http/**"],
    rules: { "no-restricted-syntax": ["error", noClock, noSuperlative, noPatience, noRecords] },
  },
  {
    files: ["test/**"],
    rules: { "@typescript-eslint/no-unsafe-assignment": "off", "@typescript-eslint/no-unsafe-member-access": "off" },
  },
);

/**
 * Some machines name a file of certificate authorities for every program. Node.js 20 reads the whole file whenever it starts, which takes
 * longer than most commands. No test needs it, except one that fetches packages.
 */
const name = "NODE_EXTRA_CA_CERTS";

/** The variable, for what reaches other machines. */
export const ofMachine: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([key, value]) => (key === name && value !== undefined ? [[key, value]] : [])),
);

Reflect.deleteProperty(process.env, name);

import { cost } from "../../src/core/users/passwords.ts";

/** Before each file of tests: passwords are hashed at a low cost in this process. `test/cli/edit.test.ts` proves the real one. */
cost.N = 2 ** 4;

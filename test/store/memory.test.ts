import { createMemoryStore } from "../../src/store/memory.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";

storeContract("memory", async (now) => createMemoryStore({ now }));
storeContract("memory, run twice", async (now) => runTwice(createMemoryStore({ now })));

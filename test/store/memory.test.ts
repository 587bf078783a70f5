import { createMemoryStore } from "../../src/store/memory.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";

storeContract("memory", async (clock) => createMemoryStore(clock));
storeContract("memory, run twice", async (clock) => runTwice(createMemoryStore(clock)));

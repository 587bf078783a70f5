/** The store of the first issuer of a data folder, closed with its lock. */
import { openFolder, type FolderOptions } from "../../src/store/json/issuer-stores.ts";
import type { Store, StoreClock } from "../../src/store/store.ts";
import { openOne, type IssuerStores } from "../../src/store/issuer-stores.ts";

export type FolderStore = Store & Pick<IssuerStores, "updateLock">;
export type OpenOptions = FolderOptions & StoreClock;

export async function openFolderStore(options: OpenOptions): Promise<FolderStore> {
  const stores = await openFolder(options);
  return { ...(await openOne(stores, null, options)), updateLock: (server) => stores.updateLock(server) };
}

import { describeHostContract } from '../testing/host-contract.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { writeTree } from '../testing/write-tree.ts';
import { createPrefixedHost } from './create-prefixed-host.ts';

describeHostContract(
  'a prefixed host',
  async (tree) => {
    const top = temporaryFolder();
    await writeTree(top, tree);
    return createPrefixedHost(top);
  },
  { writable: true },
);
